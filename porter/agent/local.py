"""A `transformers` model in this process: a folder with weights and a tokenizer; nothing is fetched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import cast

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from porter.agent.model import UnansweredError
from porter.agent.question import Answer, Ending, Message, Question, Usage, encodable
from porter.errors import InputError


@dataclass(frozen=True, slots=True)
class Local:
    """A causal language model with its tokenizer."""

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    turn: Lock = field(default_factory=Lock)

    @classmethod
    def load(cls, folder: Path) -> Local:
        """Returns what `folder` holds, on the first accelerator where there is one. Raises `InputError` for anything
        else.
        """
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            network = AutoModelForCausalLM.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, dtype="auto"
            )
        except (OSError, ValueError) as error:
            raise InputError(f"{folder}: this is not a model of transformers: {error}") from error
        torch.nn.Module.to(network, "cuda" if torch.cuda.is_available() else "cpu")
        return cls(network, tokenizer)

    def ask(self, question: Question) -> Answer:
        """The same question gets the same answer on the same machine: the state of the generator is the question's."""
        ids = torch.tensor([prompt_ids(self.tokenizer, question.messages)], device=self.network.device)
        read, limit = ids.shape[1], question.sampling.output_tokens
        room = self._window() - read
        if room < 1:
            raise UnansweredError(f"a prompt of {read} tokens; the model reads {self._window()}")
        with self.turn, torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(question.seed)
            written = self._generate(ids, min(limit, room), question)[0, read:].tolist()
        stops = self._stops()
        whole = bool(written) and written[-1] in stops
        text = self.tokenizer.decode(written, skip_special_tokens=True)
        usage = Usage(read, len(written))
        return Answer(encodable(str(text)), Ending.COMPLETE if whole else Ending.CUT, usage)

    def _generate(self, ids: torch.Tensor, limit: int, question: Question) -> torch.Tensor:
        sampling = question.sampling
        drawn = (
            {"do_sample": True, "temperature": sampling.temperature, "top_p": sampling.top_p}
            if sampling.temperature > 0
            else {"do_sample": False}
        )
        generate = cast(Callable[..., torch.Tensor], self.network.generate)
        return generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=limit, **drawn)

    def _window(self) -> int:
        """Tokens the model can hold, read and written together."""
        return int(getattr(self.network.config, "max_position_embeddings", None) or 2**31)

    def _stops(self) -> set[int]:
        stops = self.network.generation_config.eos_token_id
        return set(stops) if isinstance(stops, list) else {stops}


def prompt_ids(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> list[int]:
    """Returns messages as tokens, as a model was taught to read them, or one after the other if it was taught none."""
    if tokenizer.chat_template:
        turns = [{"role": message.role.value, "content": message.text} for message in messages]
        text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return list(tokenizer(str(text), add_special_tokens=False)["input_ids"])
    return list(tokenizer("\n".join(message.text for message in messages))["input_ids"])
