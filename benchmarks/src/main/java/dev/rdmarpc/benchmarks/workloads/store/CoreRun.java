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

package dev.rdmarpc.benchmarks.workloads.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import site.ycsb.DB;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

import dev.rdmarpc.sample.store.FeatureStore;

/**
 * One of the workloads {@code a} to {@code f} that come with YCSB, made by its
 * {@code CoreWorkload}, on one store. Records have one field, as long as YCSB's ten are
 * together.
 */
public final class CoreRun {

	/** What the files {@code workloads/workloada} to {@code workloadf} say. */
	private static final Map<String, Map<String, String>> WORKLOADS = Map.of("a",
			Map.of("readproportion", "0.5", "updateproportion", "0.5"), "b",
			Map.of("readproportion", "0.95", "updateproportion", "0.05"), "c",
			Map.of("readproportion", "1", "updateproportion", "0"), "d",
			Map.of("readproportion", "0.95", "updateproportion", "0", "insertproportion", "0.05", "requestdistribution",
					"latest"),
			"e",
			Map.of("readproportion", "0", "updateproportion", "0", "scanproportion", "0.95", "insertproportion", "0.05",
					"maxscanlength", "100", "scanlengthdistribution", "uniform"),
			"f", Map.of("readproportion", "0.5", "updateproportion", "0", "readmodifywriteproportion", "0.5"));

	private final FeatureStore store;

	private final int records;

	private final CoreWorkload workload;

	/**
	 * Makes the workload and fills the store.
	 * @param store to call
	 * @param name {@code a} to {@code f}
	 * @param records the number of records at the beginning
	 * @throws WorkloadException if YCSB does not accept it
	 */
	public CoreRun(FeatureStore store, String name, int records) throws WorkloadException {
		Map<String, String> proportions = WORKLOADS.get(name);
		if (proportions == null) {
			throw new IllegalArgumentException("workload " + name + " (expected: a, b, c, d, e or f)");
		}
		this.store = store;
		this.records = records;
		Properties properties = new Properties();
		properties.setProperty("recordcount", Integer.toString(records));
		properties.setProperty("operationcount", Integer.toString(records));
		properties.setProperty("fieldcount", "1");
		properties.setProperty("fieldlength", Integer.toString(StoreDatabase.RECORD_BYTES));
		properties.setProperty("requestdistribution", "zipfian");
		properties.putAll(proportions);
		Measurements.setProperties(properties); // looked for when the workload is made
		this.workload = new MarkedWorkload();
		this.workload.init(properties);
		load();
	}

	private void load() throws WorkloadException {
		StoreDatabase database = new StoreDatabase(this.store, new OperationLatencies());
		Object state = this.workload.initThread(new Properties(), 0, 1);
		for (int i = 0; i < this.records; i++) {
			if (!this.workload.doInsert(database, state)) {
				throw new IllegalStateException("record " + i + " could not be inserted");
			}
		}
	}

	/**
	 * Has so many threads make transactions, each one after the other.
	 * @return the latencies, see {@link OperationLatencies#toLine}
	 * @throws Exception if a call fails or is not answered as it should be
	 */
	public String run(int threads, long durationNanos) throws Exception {
		OperationLatencies latencies = new OperationLatencies();
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			long begun = System.nanoTime();
			List<Future<?>> runs = new ArrayList<>();
			for (int i = 0; i < threads; i++) {
				int thread = i;
				runs.add(executor.submit(() -> {
					transactions(latencies, thread, threads, begun + durationNanos);
					return null;
				}));
			}
			for (Future<?> run : runs) {
				run.get();
			}
			return latencies.toLine(System.nanoTime() - begun);
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException("a call failed: " + ex.getCause(), ex.getCause());
		}
		finally {
			executor.shutdown();
		}
	}

	private void transactions(OperationLatencies latencies, int thread, int threads, long end)
			throws WorkloadException {
		StoreDatabase database = new StoreDatabase(this.store, latencies);
		Object state = this.workload.initThread(new Properties(), thread, threads);
		do {
			this.workload.doTransaction(database, state);
			String failure = database.failure();
			if (failure != null) {
				throw new IllegalStateException(failure);
			}
		}
		while (System.nanoTime() - end < 0);
	}

	/** Says which update belongs to the read before it. */
	private static final class MarkedWorkload extends CoreWorkload {

		@Override
		public void doTransactionReadModifyWrite(DB database) {
			((StoreDatabase) database).beginReadModifyWrite();
			super.doTransactionReadModifyWrite(database);
		}

	}

}
