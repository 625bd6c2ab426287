"""A causal model of one layer with random weights, and a tokenizer made here."""

import torch

REPLY = "IDEA: wider\nFILE: k.py\n<<<<<<< SEARCH\nx = 0\n=======\nx = 1\n>>>>>>> REPLACE\n"
TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>"


def tiny_model(path):
    """Writes the model into the folder `path`."""
    # Imported here: it takes seconds, and each process of a test run collects who needs it, but one runs it.
    from tokenizers import Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from tokenizers.trainers import BpeTrainer
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    raw = Tokenizer(BPE(unk_token=None))
    raw.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(vocab_size=400, special_tokens=["<eos>"], initial_alphabet=ByteLevel.alphabet())
    raw.train_from_iterator([REPLY, "You port. Port this."], trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<eos>", chat_template=TEMPLATE)
    tokenizer.save_pretrained(path)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
        config = Qwen2Config(
            vocab_size=len(tokenizer), num_key_value_heads=1, eos_token_id=tokenizer.eos_token_id, **sizes
        )
        Qwen2ForCausalLM(config).save_pretrained(path)
    return path
