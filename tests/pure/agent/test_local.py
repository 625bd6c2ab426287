"""A tiny model with random weights and a tokenizer made here: nonsense, the same nonsense for the same question."""

import pytest
import torch

from porter.agent.ledger import Budget
from porter.agent.model import BudgetError, UnansweredError
from porter.agent.question import Ending, Message, Question, Role, Sampling
from porter.errors import InputError
from tests.pure.agent.world import agent_of, request, task

TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    # Imported here: it takes seconds, and each process of a test run collects this file, but one runs it.
    from tokenizers import Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from tokenizers.trainers import BpeTrainer
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    path = tmp_path_factory.mktemp("model")
    raw = Tokenizer(BPE(unk_token=None))
    raw.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(vocab_size=300, special_tokens=["<eos>"], initial_alphabet=ByteLevel.alphabet())
    raw.train_from_iterator(["import triton", "tl.load(x + i, mask)"], trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<eos>", chat_template=TEMPLATE)
    tokenizer.save_pretrained(path)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=8192,
            eos_token_id=tokenizer.eos_token_id,
        )
        Qwen2ForCausalLM(config).save_pretrained(path)
    return path


def agent(folder, **changed):
    return agent_of(
        "http://127.0.0.1:9/v1", model=str(folder), local=True, sampling=Sampling(output_tokens=12), **changed
    )


def ask(made, seed=1, text="Port this.", **sampling):
    messages = (Message(Role.SYSTEM, "You port."), Message(Role.USER, text))
    return made.panel.writers[0].model.ask(Question("local", messages, Sampling(output_tokens=12, **sampling), seed))


def test_the_same_question_has_the_same_answer_and_another_seed_another(folder):
    made = agent(folder)
    first = ask(made)
    assert first.ending is Ending.CUT, "random weights hardly ever stop"
    assert first.usage.output_tokens == 12
    assert first.usage.input_tokens > len("You port.Port this.") // 2
    assert not first.usage.estimated
    assert ask(made) == first
    assert len({ask(made, seed=seed).text for seed in range(4)}) > 1
    assert ask(made, temperature=0.0, seed=1) == ask(made, temperature=0.0, seed=2)


def test_asking_leaves_the_random_numbers_of_others_alone(folder):
    made, state = agent(folder), torch.random.get_rng_state()
    ask(made)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_prompt_beyond_the_models_window_is_said(folder):
    with pytest.raises(UnansweredError, match="the model reads 8192"):
        ask(agent(folder), text="x" * 40_000)


def test_its_tokens_are_booked_and_limited(folder):
    made = agent(folder, budget=Budget(tokens=60))
    ask(made)
    assert made.ledger.spent.output_tokens == 12
    with pytest.raises(BudgetError):
        ask(made)


def test_nonsense_is_no_candidate_and_is_said(folder):
    proposer = agent(folder, corrections=1).llm(task(brief="."))
    assert not proposer.propose(request())
    replies = [exchange for exchange in proposer.account().exchanges if exchange.prompt]
    assert len(replies) == 2
    assert sum(exchange.reply.startswith("not used: ") for exchange in proposer.account().exchanges) == 2


def test_its_answers_are_recorded_and_played_back_without_it(folder, tmp_path):
    live = agent(folder, recording=tmp_path).llm(task(brief="."))
    live.propose(request())
    replayed = agent(folder, recording=tmp_path, replay=True).llm(task(brief="."))
    replayed.propose(request())
    assert replayed.account() == live.account()
    assert live.account().tokens > 0


def test_a_folder_without_a_model_is_said(tmp_path):
    with pytest.raises(InputError, match="not a model of transformers"):
        agent(tmp_path)
