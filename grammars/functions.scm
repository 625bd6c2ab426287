; Which functions are defined here?
(function_definition body: (_) @body) @function
