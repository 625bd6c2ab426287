"""The endpoint over a real connection, with every fault a server has: nothing is lost, and what happened is said."""

import json
import logging
import threading
import time
import traceback

import pytest

from porter.agent.ledger import Budget, Prices
from porter.agent.model import BudgetError, GoneError, UnansweredError
from porter.agent.patience import Backoff
from porter.agent.question import Ending, Question, Sampling, Usage, estimated_tokens
from porter.agent.secret import Secret
from porter.errors import MachineError, UsageError
from tests.pure.agent.world import KEY, agent_of, cut_body, options, question, reply, status

PATIENT = Backoff(tries=50, first_s=0.001, longest_s=0.01)  # a busy machine may need more than 0.3 s for the second


def ask(agent, **asked):
    return agent.panel.writers[0].model.ask(question(**asked))


def test_a_question_goes_out_as_the_paper_samples_and_comes_back_with_its_usage(serve):
    server = serve(reply("the answer"))
    agent = agent_of(server.url)
    answer = ask(agent, seed=42)
    assert (answer.text, answer.ending, answer.usage) == ("the answer", Ending.COMPLETE, Usage(11, 7))
    (sent,) = server.seen
    assert (sent["temperature"], sent["top_p"], sent["max_tokens"], sent["seed"]) == (0.6, 0.95, 32_768, 42)
    assert [turn["role"] for turn in sent["messages"]] == ["system", "user"]
    assert server.headers[0]["authorization"] == f"Bearer {KEY.value}"


def test_servers_that_call_the_limit_otherwise_are_asked_so(serve):
    server = serve(reply("yes"))
    ask(agent_of(server.url, limit="max_completion_tokens"))
    assert server.seen[0]["max_completion_tokens"] == 32_768
    assert "max_tokens" not in server.seen[0]


FAULTS = {
    "too many": (status(429, '{"error": {"message": "slow down"}}', Retry_After="0.001"), "429: slow down"),
    "broken": (status(500, "<h1>Internal\n error</h1>"), "500: <h1>Internal error</h1>"),
    "away": (status(503, ""), "503"),
    "cut body": (cut_body, "the connection broke"),
    "no gzip": (status(200, "plain", Content_Encoding="gzip"), "the connection broke"),
    "no JSON": (status(200, "Welcome!"), "not what /chat/completions gives"),
    "half of it": (status(200, '{"choices": [{"message": {"content": "a'), "not what /chat/completions gives"),
    "other JSON": (status(200, '{"choices": []}'), "not what /chat/completions gives"),
    "a list": (status(200, "[1]"), "not what /chat/completions gives"),
    "no text": (status(200, '{"choices": [{"message": {"content": [1]}}]}'), "the content is not text"),
    "deep": (status(200, "[" * 100_000), "not what /chat/completions gives"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_passes_is_tried_again_and_told(serve, fault):
    answer, words = FAULTS[fault]
    server, told = serve(answer, answer, reply("at last")), []
    answer = ask(agent_of(server.url, told))
    assert answer.text == "at last"
    assert len(server.seen) == 3
    assert len(answer.tries) == len(told) == 2
    assert all(words in line for line in (*answer.tries, *told))


def test_a_server_that_says_nothing_is_not_waited_for(serve):
    server = serve(lambda _: time.sleep(1), reply("at last"))
    answer = ask(agent_of(server.url, timeout_s=0.3, backoff=PATIENT))
    assert "within 0.3 s" in answer.tries[0]


def test_a_server_that_drips_is_not_waited_for(serve):
    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        for _ in range(20):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)

    answer = ask(agent_of(serve(drip, reply("at last")).url, timeout_s=0.3, backoff=PATIENT))
    assert "no whole answer within 0.3 s" in answer.tries[0]


def test_tries_end_and_the_question_stays_unanswered(serve):
    server = serve(status(500, "no"))
    with pytest.raises(UnansweredError, match=r"3 tries: .*500: no; .*500: no"):
        ask(agent_of(server.url))
    assert len(server.seen) == 3, "one layer of retries, not two"


def test_an_endpoint_that_is_gone_is_given_up(serve):
    server = serve(status(500, "no"))
    agent = agent_of(server.url, backoff=Backoff(tries=1, silent=2))
    for _ in range(2):
        with pytest.raises(UnansweredError):
            ask(agent)
    with pytest.raises(UnansweredError, match="not asked: 2 questions in a row had no answer"):
        ask(agent)
    assert len(server.seen) == 2


def test_nobody_there():
    with pytest.raises(UnansweredError, match="no connection"):
        ask(agent_of("http://127.0.0.1:9/v1"))


@pytest.mark.parametrize("header", ["3600", "9" * 400, "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_a_pause_longer_than_allowed_is_not_kept(serve, header):
    server = serve(status(429, "later", Retry_After=header))
    with pytest.raises(UnansweredError, match="pause of"):
        ask(agent_of(server.url))
    assert len(server.seen) == 1


@pytest.mark.parametrize("header", ["nan", "soon", "Wed, 21 Oct 2015 07:28:00 GMT", "-3", ""])
def test_odd_pauses_are_none(serve, header):
    server = serve(status(429, "later", Retry_After=header), reply("yes"))
    assert ask(agent_of(server.url)).text == "yes"


@pytest.mark.parametrize(("code", "hint"), [(401, "key"), (403, "key"), (404, "name")])
def test_what_the_user_must_mend_is_said_once(serve, code, hint):
    server = serve(status(code, json.dumps({"error": {"message": f"no {KEY.value} here"}})))
    with pytest.raises(MachineError, match=hint) as raised:
        ask(agent_of(server.url))
    assert len(server.seen) == 1
    assert "no *** here" in str(raised.value)


def test_a_question_that_is_refused_is_not_repeated(serve):
    server = serve(status(400, '{"error": {"message": "too long"}}'))
    with pytest.raises(UnansweredError, match="400: too long"):
        ask(agent_of(server.url))
    assert len(server.seen) == 1


def test_the_key_is_in_no_log_no_exception_and_no_repr(serve, caplog):
    caplog.set_level(logging.DEBUG)
    server = serve(status(500, f"your key {KEY.value} is fine"))
    agent = agent_of(server.url)
    with pytest.raises(UnansweredError) as raised:
        ask(agent)
    below = raised.value.with_traceback(raised.value.__traceback__.tb_next)  # without this test, which knows the key
    trace = "".join(traceback.TracebackException.from_exception(below, capture_locals=True).format())
    shown = (trace, repr(agent), str(KEY), repr(KEY), repr(options()), *(r.getMessage() for r in caplog.records))
    assert not [text for text in shown if KEY.value in text]
    assert "***" in str(raised.value)


def test_a_key_that_an_answer_holds_is_blotted_out(serve):
    assert ask(agent_of(serve(reply(f"Bearer {KEY.value}!")).url)).text == "Bearer ***!"


def test_a_word_that_serves_for_a_key_is_left_in_texts():
    assert Secret("EMPTY").scrub_program("if EMPTY:") == "if EMPTY:"


def test_half_a_surrogate_pair_does_no_harm(serve):
    body = '{"choices": [{"message": {"content": "a\\ud800b\\u0000c"}, "finish_reason": "odd"}]}'
    answer = ask(agent_of(serve(status(200, body)).url))
    assert answer.text == "a?b?c"
    assert answer.text.encode()
    assert answer.ending is Ending.COMPLETE


def test_usage_is_estimated_where_the_server_does_not_say(serve):
    agent = agent_of(serve(reply("123456", usage=None)).url)
    usage = ask(agent).usage
    assert usage == Usage(estimated_tokens(question().text), 2, estimated=True)
    assert agent.ledger.spent == usage


def test_the_ledger_adds_up_and_the_budget_holds_before_it_is_exceeded(serve):
    server = serve(reply("yes", usage=(1_000, 2_000)))
    prices = Prices(input_per_million=2.0, output_per_million=10.0)
    most = (32_768 * 10 + estimated_tokens(question().text) * 2) / 1e6
    agent = agent_of(server.url, prices=prices, budget=Budget(cost=most + 0.022 + 1e-9))
    ask(agent)
    assert agent.ledger.cost == pytest.approx(0.022)
    ask(agent)
    with pytest.raises(BudgetError, match="may cost"):
        ask(agent)
    assert len(server.seen) == 2
    assert agent.ledger.cost == pytest.approx(0.044)


def test_the_budget_of_tokens_is_not_exceeded_either(serve):
    server = serve(reply("yes"))
    agent = agent_of(server.url, budget=Budget(tokens=33_000), sampling=Sampling(output_tokens=32_990))
    with pytest.raises(BudgetError, match="budget of 33000 tokens: 0 are spent, this may take"):
        agent.panel.writers[0].model.ask(Question("tiny", question().messages, Sampling(output_tokens=32_995), 1))
    assert not server.seen


def test_where_the_budget_has_no_room_for_two_questions_one_waits_for_the_other(serve):
    server = serve(lambda handler: (time.sleep(0.2), reply("yes")(handler)))
    agent = agent_of(server.url, budget=Budget(tokens=40_000))
    first = threading.Thread(target=ask, args=(agent,))
    first.start()
    while not server.seen:
        time.sleep(0.001)
    assert ask(agent, seed=2).text == "yes"
    first.join()
    assert agent.ledger.spent.tokens == 2 * 18


def test_once_closed_nothing_is_asked_or_tried_again(serve):
    server = serve(status(500, "no"))
    agent = agent_of(server.url)
    agent.closed.set()
    with pytest.raises(GoneError, match="the search is over"):
        ask(agent)
    assert not server.seen


def test_a_reply_that_broke_off_is_booked_as_far_as_it_came(serve):
    agent = agent_of(serve(cut_body, reply("yes", usage=(5, 5))).url)
    ask(agent)
    assert agent.ledger.spent == Usage(estimated_tokens(question().text) + 5, 5, estimated=True)


def test_questions_are_spaced_out(serve):
    agent = agent_of(serve(reply("yes")).url, requests_per_minute=600)
    begun = time.monotonic()
    for _ in range(3):
        ask(agent)
    assert time.monotonic() - begun >= 0.2


@pytest.mark.parametrize(
    "changed",
    [
        {"base_url": "localhost:8000"},
        {"base_url": "https://user:password@host/v1"},
        {"timeout_s": 0},
        {"context_tokens": 0},
        {"limit": "tokens"},
    ],
)
def test_options_that_make_no_sense_are_refused(changed):
    with pytest.raises(UsageError):
        options(**changed)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"replay": True}, "the folder of a recording"),
        ({"budget": Budget(cost=1.0)}, "needs the prices"),
        ({"budget": Budget(tokens=30_000)}, "nothing can be asked within 30000 tokens: one answer may take 32768"),
    ],
)
def test_models_that_could_never_be_asked_are_refused_at_once(changed, words):
    with pytest.raises(UsageError, match=words):
        agent_of("http://127.0.0.1:9/v1", **changed)
