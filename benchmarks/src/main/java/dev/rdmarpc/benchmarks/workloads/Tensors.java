/*
 * Copyright 2026 the rdma-rpc authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.rdmarpc.benchmarks.workloads;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import dev.rdmarpc.benchmarks.compare.MarkdownTable;
import dev.rdmarpc.benchmarks.workloads.tensors.Model;

/** Runs the exchange of parameters of training steps. */
@Command(name = "tensors", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
		description = "Training steps: workers give gradients to parameter servers and get the sums.")
final class Tensors implements Callable<Integer> {

	private static final String STEP = "step ms";

	private static final String FIRST = "first tensor ms";

	private static final String ALL = "all tensors ms";

	@Mixin
	private RunOptions options = new RunOptions();

	@Spec
	private CommandSpec command = CommandSpec.create();

	@Option(names = "--models", split = ",", description = "Of ${COMPLETION-CANDIDATES}.",
			defaultValue = "RESNET50,VGG16")
	private List<Model> models = List.of();

	@Option(names = "--workers", description = "Processes that give gradients.", defaultValue = "2")
	private int workers;

	@Option(names = "--servers", description = "Processes that have parameters.", defaultValue = "2")
	private int servers;

	@Option(names = "--prime-steps", description = "Before the first round.", defaultValue = "8")
	private int primeSteps;

	@Option(names = "--forward-millis",
			description = "How long an accelerator would compute forward in a step; backward twice as long.",
			defaultValue = "100")
	private int forwardMillis;

	@Option(names = "--thorough", description = "Look at each number that is received, which costs time.")
	private boolean thorough;

	private final Samples samples = new Samples();

	@Override
	public Integer call() throws Exception {
		List<String> peers = this.options.peers(this.command, "rdma-default", "rdma-priorities", "rdma-registered",
				"rdma-registered-priorities", "grpc-default");
		int rounds = this.options.rounds(3, 11);
		int prime = this.options.quick ? Math.min(this.primeSteps, 3) : this.primeSteps;
		for (Model model : this.models) {
			this.options.progress(String.format(Locale.ROOT, "%s: %d tensors, %.0f MB", model, model.sizes().size(),
					model.totalBytes() / 1e6));
			try (Fleets fleets = new Fleets(peers, this.servers, this.workers, this.options.logs())) {
				fleets.each(0, (peer, fleet) -> {
					fleet.askAll("worker " + model + " INDEX " + this.workers + " " + this.forwardMillis);
					fleet.askAll("steps 0 " + prime + " " + this.thorough);
				});
				for (int i = 0; i < rounds; i++) {
					int step = prime + 2 * i;
					fleets.each(i, (peer, fleet) -> measure(model, peer, fleet, step));
				}
			}
		}
		this.options.write(table(peers), this.samples, picture(peers));
		return 0;
	}

	/** The second of two steps: the first one wakes up what was stopped. */
	private void measure(Model model, String peer, Fleet fleet, int step) {
		fleet.askAll("steps " + step + " 1 " + this.thorough);
		double slowest = 0;
		double first = 0;
		double all = 0;
		for (String answer : fleet.askAll("steps " + (step + 1) + " 1 " + this.thorough)) {
			String[] figures = answer.split(":", -1);
			slowest = Math.max(slowest, Long.parseLong(figures[0]) / 1e6);
			first = Math.max(first, Long.parseLong(figures[1]) / 1e6);
			all = Math.max(all, Long.parseLong(figures[2]) / 1e6);
		}
		this.samples.add(model.name(), peer, STEP, slowest);
		this.samples.add(model.name(), peer, FIRST, first);
		this.samples.add(model.name(), peer, ALL, all);
	}

	private List<String> table(List<String> peers) {
		MarkdownTable table = new MarkdownTable(
				List.of("model / peer", STEP, FIRST, ALL, "step to " + Framework.BASE, "step to rdma-default"));
		for (Model model : this.models) {
			for (String peer : peers) {
				List<String> cells = new ArrayList<>(List.of(model + " / " + peer));
				List.of(STEP, FIRST, ALL)
					.forEach((figure) -> cells
						.add(MarkdownTable.number(this.samples.median(model.name(), peer, figure))));
				for (String other : List.of(Framework.BASE, "rdma-default")) {
					cells.add(peers.contains(other) ? this.samples.ratioWithSpread(model.name(), peer, other, STEP)
							: "-");
				}
				table.add(cells);
			}
		}
		return new ArrayList<>(table.toLines());
	}

	private String picture(List<String> peers) {
		List<String> names = this.models.stream().map(Model::name).toList();
		BarChart chart = new BarChart(peers, names.size(), 1);
		chart.panel("time of a step, ms", names, (model, peer) -> this.samples.median(model, peer, STEP));
		return chart.draw();
	}

}
