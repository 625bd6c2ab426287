"""Says of each list how it was run, and what a person found who looked at what was verified of it."""

REMARKS = {
    "unseen_2026-11-29f": """\
42 files of 42 repositories (14 of libraries, 14 of extensions, 14 of programs with a `main`), run once on a machine
of two cores, two at once, with porter's limit of 60 s and 120 s for a file; other work ran beside the first half of
them. Whether what is called verified is right was not looked at. Of maca's 76 entries 39 (51 %) are verified or
verified by their kernels, of triton's 74 entries 33 (45 %). 27 of maca's files and 25 of triton's have at least one
such entry, 20 and 14 have no other. The median of a file is 10 s for maca and 11 s for triton. Products of matrices,
convolutions, attention and sorting are not left out. All 14 programs have a `main`, while nine files of the list
before had one: of those files 11 of maca's 28 and 9 of triton's 26 entries are verified or verified by their kernels,
of the others 28 of 48 for maca and 24 of 48 for triton.
Run again when some of what came of it had been mended, at 6811baac and alone, 45 of maca's 75 entries and 39 of
triton's 74 were verified or verified by their kernels (19 and 17 of them whole), with medians of 8 s for both; no
entry was lost. In both runs sizes of an extension's axes that a kernel indexes with one variable were drawn as one,
which is no longer done: a port that mixed such sizes up would not have shown.
""",
    "unseen_2026-11-29e": """\
42 files of 42 repositories (14 of libraries and applications, 14 of extensions, 14 of programs and plain files), run
once on a machine of two cores, two at once, with porter's limit of 60 s and 120 s for a file; little else ran beside
them. Of maca's 94 entries 57 (61 %) are verified or verified by their kernels, of triton's 103 entries 54 (52 %). 24 of
maca's files and 22 of triton's have at least one such entry, 20 and 16 have no other. The median of a file is 7 s for
maca and 8 s for triton. Products of matrices, convolutions, attention and sorting are not left out. Nine of the 42
files have a `main`.
One entry of each target is a kernel with an empty body, an exercise, which is not called verified any more. For triton
a launcher that is refused counts beside its kernels, which are entries of their own then; for maca it does not.
Run again when some of what came of it had been mended, at d437208b, 55 of 95 and 55 of 103 entries were verified.

All 111 were then checked apart from porter's judge (`benchmarks/results/independent_2026-11-29.json`): no contract,
executor or oracle of porter's took part. The ports to Triton were run in Triton's own interpreter, at uneven sizes of
several tiles, on special values and with other numbers than porter's, and compared with expressions that were written
from the CUDA text; no error is above 0.74 of what rounding explains. Of the ports to MACA every changed line of sources
and headers was read. None was wrong but the empty kernel.

| target | verified | kernels alone | comparisons | elements | falsely |
| --- | --- | --- | --- | --- | --- |
| triton | 31 | 23 | 1,310 | 2,049,214 | 1 |
| maca | 36 | 21 | | | 1 |

`porter verify` judged 147 single mutations of 15 of these ports. It told 115 of them, 10 give the same answer, and 7
change what the verdict says was not run. Three are not decided without a word of it (an index that is the first of a
range, a sum that rounds to exactly 1, a negative limit). The other 12 were holes. A kernel that leaves 131,072 elements
to a block was only ever launched over one, as was one whose grid is a guess, so that a port that left the block's index
out was verified: now a larger workload is looked for, and the verdict says so where there is none. A contract had as
many rows to gather as to gather from, for nothing says which of its sizes go together, and either count would do: they
are told apart now. No two of the indices that a kernel counts were alike, so that it counted as well without atomics:
in one more workload some are.
""",
    "unseen_2026-11-29d": """\
42 files of 42 repositories (15 of libraries and applications, 11 of extensions, 16 of programs and plain files), run
once on a machine of two cores, two at once, with porter's limit of 60 s and 120 s for a file; little else ran
beside them. Whether what is called verified is right was not looked at. Of maca's 134 entries 61 (46 %) are
verified or verified by their kernels, of triton's 136 entries 48 (35 %). 25 of maca's files and 20 of triton's
have at least one such entry, 15 and 9 have no other. The median of a file is 11 s for maca and 20 s for
triton. Products of matrices, convolutions, attention and sorting are not left out, as they were of the lists before.
""",
    "unseen_2026-11-29c": """\
42 files of 42 repositories (14 of libraries and applications, 14 of extensions, 14 of programs and plain files), run
once on a machine of two cores, two at once, with porter's limit of 60 s and 120 s for a file; little else ran beside
them. Whether what is called verified is right was not looked at. Of maca's 105 entries 55 (52 %) are verified or
verified by their kernels, of triton's 114 entries 41 (36 %). 27 of maca's files and 22 of triton's have at least one
such entry, 16 and 8 have no other. The median of a file is 19 s for maca and 37 s for triton. Products of matrices,
convolutions, attention and sorting are not left out, as they were of the lists before. On one file porter met its
limit before it had a port for triton, which counts as an entry. Nine entries of triton are the launchers of one file,
whose checks print to `stderr`.
""",
    "unseen_2026-11-29b": """\
42 files of 42 repositories (14 of libraries and applications, 14 of extensions, 14 of programs and plain files), run
once on a machine of two cores, two at once, with porter's limit of 60 s and 120 s for a file; little else ran
beside them. Whether what is called verified is right was not looked at. Of maca's 80 entries 43 (54 %) are
verified or verified by their kernels, of triton's 84 entries 34 (40 %). 24 of maca's files and 19 of triton's
have at least one such entry, 19 and 12 have no other. The median of a file is 15 s for maca and 30 s for
triton. Products of matrices, convolutions, attention and sorting are not left out, as they were of the lists before.
A file in which a bracket is never closed counts as an entry, and so does one on which porter itself failed for triton.
""",
    "unseen_2026-11-29a": """\
42 files of 42 repositories (14 of libraries and applications, 14 of extensions, 14 of programs and plain files), run
once on a
machine of two cores, two at once, with porter's limit of 60 s and 120 s for a file; little else ran
beside them. Whether what is called verified is right was not looked at. Of maca's 117 entries 61 (52 %) are
verified or verified by their kernels, of triton's 123 entries 51 (41 %). 27 of maca's files and 23 of triton's
have at least one such entry, 20 and 13 have no other. The median of a file is 19 s for maca and 48 s for
triton. Products of matrices, convolutions, attention and sorting are not left out, as they were of the lists before.
The cause of the one port that crashed was not looked at before this was written. Of the entries that were short of
time 17 are of two files, coloradar-library and cetana.
""",
    "unseen_2026-11-28f": """\
42 files of 42 repositories (14 of libraries and applications, 14 of extensions, 14 of programs and plain files), run
once on a machine of two cores, two at once, with porter's limit of 60 s and 120 s for a file; a few short tests ran
beside them. Whether what is called verified is right was not looked at. Of maca's 100 entries 53 (53 %) are
verified or verified by their kernels, of triton's 106 entries 43 (41 %). 22 of maca's files and 20 of triton's
have at least one such entry, 15 and 9 have no other. The median of a file is 18 s for maca and 20 s for triton.
Products of matrices, convolutions, attention and sorting are not left out, as they were of the lists before. Of the
two ports that are wrong and the one that crashed the causes were not looked at before this was written.
""",
    "unseen_2026-11-28e": """\
42 files of 28 repositories (14 of operator libraries, 14 of extensions, 14 of programs and plain files), run once on a
machine of two cores, two at once, with porter's limit of 60 s and 120 s for a file; a little other work ran beside
them. Whether what is called verified is right was not looked at. Of maca's 110 entries 43 (39 %) are
verified or verified by their kernels, of triton's 116 entries 36 (31 %). 22 of maca's files and 19 of triton's
have at least one such entry, 14 and 9 have no other. The median of a file is 14 s for maca and 28 s for triton.
The two ports that are wrong are of kernels with complex numbers in shared memory, launched in blocks that porter
guessed. A launch with arguments left out, of an unfinished exercise, ended in an IndexError.
""",
    "unseen_2026-11-28d": """\
54 files of 32 repositories (18 of operator libraries, 18 of extensions, 18 of programs and plain files), run once on a
machine of two cores, two at once, with porter's limit of 60 s and 120 s for a file; a few short migrations ran beside
them. What a file includes is there, which no list before this one asked for, so that its numbers are not quite
comparable with theirs. Whether what is called verified is right was not looked at. Of maca's 175 entries 66 (38 %) are
verified or verified by their kernels, of triton's 200 entries 64 (32 %). 29 of maca's files and 28 of triton's have at
least one such entry, 15 and 13 have no other. The median of a file is 20 s for maca and 19 s for triton. Of the three
ports that are wrong, two are of kernels that shift by more bits than a number has, at sizes that porter chose, and one
is of a sum over a block that leaves out the last warp where it is not whole, which the port does not.
""",
    "unseen_2026-11-28c": """\
75 files of 39 repositories, a third of the files each of operator libraries, extensions and sets of programs, run once
on a host of 64 cores, 32 at once, with porter's limit of 60 s and 150 s for a file; nothing else ran. Whether what is
called verified is right was not looked at. Two files are 439 of maca's 584 entries, and one of these 117 of triton's
279: macros make kernels for dozens of operations, and with so many shares of the limit none had time for any. Of the
other files 44 of maca's 145 entries (30 %) are verified or verified by their kernels, and 45 of triton's 162 (28 %).
26 of maca's files and 27 of triton's have at least one such entry, 15 and 13 have no other. The median of a file is
42 s for maca. Nine errors lost their files: four times the limit was over before there was a port, and porter stopped
at numbers that no float holds, at a generator that ended early, and in recursion that was too deep.

| outcome, entries without those two files | maca | triton |
| --- | --- | --- |
| verified | 24 | 12 |
| kernels verified | 20 | 33 |
| not verified | 82 | 52 |
| refused | 4 | 53 |
| no answer in time | 8 | 6 |
| not built | 3 | 0 |
| crashed | 0 | 1 |
| error | 4 | 5 |

| fell short because, entries without those two files | maca | triton |
| --- | --- | --- |
| refused: host code (PORT1801), a kernel (PORT1800), or a construct without a counterpart | 4 | 35 + 18 |
| the contract asks a question | 19 | 9 |
| time: porter's limit, none for the file, or the original is too slow | 35 | 31 |
| the CUDA source does not compile with the headers that are there | 25 | 8 |
| the original's own result is unreliable | 8 | 7 |
| others | 10 | 9 |
""",
    "unseen_2026-11-28b": """\
74 files of 35 repositories (24 of operator libraries, 27 of extensions, 23 of sets of programs), run once on a host
of 64 cores, 52 at once, with porter's limit of 60 s and 150 s for a file; nothing else ran. Whether what is called
verified is right was not looked at. Of maca's 158 entries 37 (23 %) are verified or verified by their kernels, of
triton's 176 entries 50 (28 %). Each error lost all entries of its file: two edits of one place, a port with a name
that Python keeps for itself, a bound of 0, and a header without CUDA.

37 of maca's 66 without time are of four files, whose entries were still being built after 60 s. Of triton's 79 refusals
39 are of launchers, whose kernels are entries of their own then; 10 kernels want textures, 8 Legion's headers, 9 a
method of AMGX's matrices.

List 28a was run again in the same call, after what came of it had been mended: 46 of maca's 172 entries (27 %, first
23 %) and 37 of triton's 195 (19 %, first 17 %).
""",
    "unseen_2026-11-28a": """\
70 files of 33 repositories (24 of operator libraries, 23 of extensions, 23 of sets of programs), run once on a host of
64 cores, 30 at once on 34 of them beside timings, with porter's limit of 60 s and 150 s for a file. Whether what is
called verified is right was not looked at, nor whether folders of headers that the list leaves out would have made more
sources compile. Of maca's 171 entries 39 (23 %) are verified or verified by their kernels, of triton's 188 entries 32
(17 %). The error is of a port in which one kernel was not found, by which all entries of its file were lost.

| verified and kernels verified, of all entries | maca | triton |
| --- | --- | --- |
| libraries | 0 + 9 of 88 (10 %) | 0 + 9 of 95 (9 %) |
| extensions | 16 + 0 of 52 (31 %) | 5 + 6 of 64 (17 %) |
| programs | 8 + 6 of 31 (45 %) | 0 + 12 of 29 (41 %) |

| fell short because, entries | maca | triton |
| --- | --- | --- |
| refused: a construct (PORT1801) or a type (PORT1800) has no translation | 0 | 52 + 28 |
| the contract asks a question | 58 | 14 |
| time: porter's limit, none for the file, or the original is too slow | 24 + 11 + 6 | 28 + 10 + 6 |
| the CUDA source does not compile with the headers that are there | 21 | 6 |
| no output depends on the inputs | 6 | 6 |
| the original is unreliable or does not run here | 4 | 2 |
| crashed | 0 | 2 |
| others | 2 | 2 |
""",
    "unseen_2026-11-27d": """\
63 files of 25 repositories, most of them operator libraries and extensions, run 44 at once on 48 of a host's 64 cores
beside timings of four GPUs, with porter's limit of 60 s and 130 s for a file. Two files failed for folders of headers
that the list names and their repositories do not have. The one wrong entry, a kernel that adds to fixed-point numbers
of 64 bits, was not looked at. What the list before this one showed was not mended in between, but for kernels that
nothing printed for Triton.
""",
    "unseen_2026-11-27c": """\
The whole list was run on a host of 64 cores beside other work, 54 files at once; porter's own limit was 60 s by the
clock on the wall, and a file was given 90 s. The records come of the log, which cuts reasons short, does not count
kernels, and names no target: where the two of a file cannot be told apart by what is said (19 files) the first is taken
for maca's. What is left of 27b was run in the same call. The one entry that is wrong was right: a comparison that is
stored as a number was interpreted as no number, which is mended since.

91a8d1d9 verified all of these entries again, and 16 more. All 106 were checked apart from porter's judge
(`benchmarks/results/independent_2026-11-27.json`): no contract, executor or oracle of porter's took part. The ports to
Triton were run in Triton's own interpreter, at uneven sizes of several tiles and on edge values, and compared with
PyTorch expressions that were written from the CUDA text; no error is above 0.79 of what rounding explains. Of the ports
to MACA every changed line of sources and headers was read: names of the runtime, includes, and in kernels nothing but
conditions on the architecture; no kernel asks for lanes of a warp.

| target | verified | kernels alone | comparisons | elements | wrong |
| --- | --- | --- | --- | --- | --- |
| triton | 7 | 46 | 221 | 1,248,580 | 0 |
| maca | 32 | 21 | | | 0 |

Some verdicts said more than was run, and are mended since. The launch of caffe's kernels and of `accGradBias` was
a guess, which was not said (blocks of 256 where a header says 512, of 16 x 16 where the launch has 32 x 8).
`StoPoolBackward` was run on one plane alone, and what it compares with indices was hardly ever equal to one, so that a
port which takes another gradient was verified. So was one that ignores a flag beside another condition
(`exclude_self`), which was never zero, and one without the product of `if (factor) v *= factor`, which is not of this
list: the factor was 1 or 0.

Two fifths of what fell short did so for want of time, or because the source does not compile with the headers that are
in its repository.
""",
    "unseen_2026-11-27b": """\
A seed (1128) decided the order, and no file was begun after 23 minutes: 20 of the 54 files for maca and 22 for
triton. Two cores had a load of 5 to 8, one file of each target was run at a time, porter's own limit was 60 s by the
clock on the wall, and a file was given 120 s. Of what is verified for triton all seven ports were read beside their
sources, of what is for maca the changes to two sources with five entries. None was wrong. The other files were run with
27c, at 5631cb7d, as is said there.

Since then, and not in these numbers: a macro of the build that stands around all of a source is set (four files of
one repository hold nothing without, of which one is here), a macro with a block behind it is no entry
(`TORCH_LIBRARY_IMPL`), functions that a source only declares are taken from the file of its library that defines
them, and indices are bounded where each chooses several numbers (`scatteraddpointLauncher`). The three files of CV-
CUDA are read into trees once where it was twice, and still have no port within 60 s of a machine as busy.
""",
    "unseen_2026-11-27": """\
A seed (1127) decided the order, and the run was ended after 50 minutes: 42 of the 71 files for maca and 48 for triton.
Two cores had a load of 8 to 12, one file of each target was run at a time, porter's own limit was 60 s by the clock on
the wall, and a file was given 150 s, towards the end 120. One repository was first run with a folder of headers that it
does not have, which porter refused; the folder was taken out of the list, and the file was run. Of what is verified for
maca the changes to six sources were read, of what is for triton, or is by its kernels, seven kernels. None was wrong.

Since then, and not in these numbers: probes no longer keep allocations that grew in vain (a region pooling that ran out
of its time here is answered in 7 s of processor time), headers that are called like CUDA's own are found
(`cuda_utils.h`), and functions that are handed `argv` are no entries.
""",
    "unseen_2026-11-26": """\
At a78a7844 the whole list was run, on a host of 64 cores beside other work, 20 files of each target at once and at
most 100 s for a file, and ended after nine minutes: files that were not begun are not here, and every fifth to third
that was begun had no answer in time. At d33faedb a seed (1126) drew a sample of other files than those that were looked
at when porter was mended, on two cores with a load of 15 to 25; porter's own limit was 240 s in place of 60 there.

Of what is verified, or verified by its kernels, ten entries for triton were checked apart from porter: in Triton's
interpreter at three to eight other sizes each, 95 comparisons with PyTorch. None was wrong. Of eight for maca the
changes to the source were read; nothing was found.
""",
    "unseen_2026-11-23b": """\
735b67b9 was run on a host of 16 cores with cold caches, 16 files at once, and cut after ten minutes; its records come
of the log and do not count kernels. 1ab4c5ce was run there, too; 28 files that waited more than 95 s, for its one GPU
among others, were run again by the same commit on two cores without one.

The 56 entries for triton that 1ab4c5ce first called verified, or verified by their kernels, were checked apart from
porter: in Triton's interpreter at three to eleven other sizes, about 500 comparisons with PyTorch or a simulation of
the source. None was wrong on finite inputs. Seven verdicts said more than was executed: loops over a grid's stride had
no second turn at any size (since 8d204732 they have where a launcher takes the number of blocks), sizes were 2 alone in
one, a drafted extent was false in another. Of maca's the sources were read; nothing was found.
""",
    "unseen_2026-11-22": """\
Everything verified of this list was checked apart from porter, with the ports of bc0b35d: {triton} entries for triton
in Triton's interpreter at other and uneven sizes against PyTorch, {maca} for maca by reading what was changed of
their sources. None was wrong. Some verdicts said more than was executed: they did not name the instances of templates
that nobody called (`launch_gelu<__half>`), and called kernels verified that only members of classes launch. Both have
been said since 5364a7f.
""",
}
