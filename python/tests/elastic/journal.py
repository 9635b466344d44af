"""The journals of a run's workers, read together."""

import collections
import pathlib
import time


class Journal:
    def __init__(self, folder):
        self.fetched = collections.defaultdict(list)  # (generation, step) -> [(epoch, indices of one worker)]
        self.committed = collections.defaultdict(set)  # step -> generations
        self.commit_times = collections.defaultdict(list)  # step -> wall clock
        self.ends = []
        for path in pathlib.Path(folder).glob("journal-*"):
            for line in path.read_text().splitlines():
                kind, *words = line.split()
                if kind == "fetch":
                    generation, step, epoch, *indices = map(int, words)
                    self.fetched[generation, step].append((epoch, indices))
                elif kind == "commit":
                    self.committed[int(words[1])].add(int(words[0]))
                    self.commit_times[int(words[1])].append(float(words[2]))
                else:
                    self.ends.append([int(word) for word in words])

    def waits_for_seconds(self, seconds):
        return time.time() - max(max(times) for times in self.commit_times.values()) > seconds

    def problems(self, steps, epochs, samples):
        """Sentences about each step and epoch that is not as in an undisturbed run."""
        found = []
        if sorted(self.committed) != list(range(1, steps + 1)):
            found.append(f"committed steps are {sorted(self.committed)[:1]} to {sorted(self.committed)[-1:]} ({len(self.committed)}), not 1 to {steps}")
        seen = collections.defaultdict(collections.Counter)
        for step, generations in self.committed.items():
            if len(generations) != 1:
                found.append(f"step {step} was committed by generations {sorted(generations)}")
            # Workers that learned of a step's end from another one's state have no line of their own.
            for epoch, indices in self.fetched[max(generations), step]:
                seen[epoch].update(indices)
        for epoch in range(epochs):
            counts = seen[epoch]
            twice = sorted(index for index, count in counts.items() if count > 1)
            missing = sorted(set(range(samples)) - set(counts))
            if twice or missing:
                found.append(f"epoch {epoch}: twice {twice}, missing {missing}")
        return found
