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

package dev.rdmarpc.transport;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

import dev.rdmarpc.verbs.ProviderAvailability;
import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;
import dev.rdmarpc.verbs.VerbsProvider;

/**
 * Which provider was chosen, and why not the others.
 *
 * @param provider the chosen one
 * @param reason one sentence for an operator
 * @param candidates all that were asked, best first
 */
public record ProviderSelection(VerbsProvider provider, String reason, List<Candidate> candidates) {

	/** The providers on the class path. */
	public static List<VerbsProvider> discover() {
		List<VerbsProvider> found = new ArrayList<>();
		ServiceLoader.load(VerbsProvider.class, ProviderSelection.class.getClassLoader()).forEach(found::add);
		return found;
	}

	/**
	 * Chooses.
	 * @param name a provider's name or {@link TransportOptions#AUTO}
	 * @throws VerbsException with {@link VerbsError#UNAVAILABLE}, naming every provider
	 * and its reason
	 */
	public static ProviderSelection select(String name, List<VerbsProvider> providers) {
		List<VerbsProvider> ranked = new ArrayList<>(providers);
		ranked.sort(Comparator.comparingInt(VerbsProvider::preference).reversed());
		List<Candidate> candidates = ranked.stream()
			.map((provider) -> new Candidate(provider.name(), provider.availability()))
			.toList();
		boolean automatic = name.equals(TransportOptions.AUTO);
		for (int i = 0; i < ranked.size(); i++) {
			ProviderAvailability availability = candidates.get(i).availability();
			if (availability.available() && (automatic || ranked.get(i).name().equals(name))) {
				return new ProviderSelection(ranked.get(i), why(automatic, candidates, i), candidates);
			}
		}
		boolean known = candidates.stream().anyMatch((candidate) -> candidate.name().equals(name));
		String what = automatic ? "No verbs provider is available"
				: known ? "Verbs provider '" + name + "' is not available"
						: "There is no verbs provider '" + name + "' on the class path";
		String separator = (automatic || known || candidates.isEmpty()) ? ": " : ". Of those that are, ";
		throw new VerbsException(VerbsError.UNAVAILABLE, what + separator + describe(candidates));
	}

	/**
	 * Chooses the providers of a transport's rails.
	 * @param names of providers, or {@link TransportOptions#AUTO} alone for all that are
	 * available
	 * @return in order of preference, at least one
	 * @throws VerbsException with {@link VerbsError#UNAVAILABLE}, naming every provider
	 * and its reason, if one of them is not available
	 */
	public static List<ProviderSelection> selectAll(List<String> names, List<VerbsProvider> providers) {
		if (names.contains(TransportOptions.AUTO)) {
			return allAvailable(providers);
		}
		return names.stream().map((name) -> select(name, providers)).toList();
	}

	/** What reaches peers on this host only comes before what reaches all. */
	private static List<ProviderSelection> allAvailable(List<VerbsProvider> providers) {
		ProviderSelection best = select(TransportOptions.AUTO, providers);
		List<VerbsProvider> ranked = new ArrayList<>(providers);
		ranked.sort(Comparator.comparing(VerbsProvider::reachesOtherHosts)
			.thenComparing(Comparator.comparingInt(VerbsProvider::preference).reversed()));
		List<ProviderSelection> all = new ArrayList<>();
		for (VerbsProvider provider : ranked) {
			ProviderAvailability availability = provider.availability();
			if (provider == best.provider()) {
				all.add(best);
			}
			else if (availability.available()) {
				all.add(new ProviderSelection(provider, "available; " + availability.reason(), best.candidates()));
			}
		}
		return all;
	}

	private static String why(boolean automatic, List<Candidate> candidates, int chosen) {
		String own = candidates.get(chosen).availability().reason();
		if (!automatic) {
			return "asked for by name; " + own;
		}
		StringBuilder reason = new StringBuilder("best available; ").append(own);
		for (Candidate better : candidates.subList(0, chosen)) {
			reason.append("; not ").append(better.name()).append(": ").append(better.availability().reason());
		}
		return reason.toString();
	}

	private static String describe(List<Candidate> candidates) {
		if (candidates.isEmpty()) {
			return "none is on the class path";
		}
		StringBuilder text = new StringBuilder();
		for (Candidate candidate : candidates) {
			text.append(text.isEmpty() ? "" : "; ")
				.append(candidate.name())
				.append(candidate.availability().available() ? " is available (" : " is not available (")
				.append(candidate.availability().reason())
				.append(')');
		}
		return text.toString();
	}

	/** A provider and its answer. */
	public record Candidate(String name, ProviderAvailability availability) {

	}

}
