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

package dev.rdmarpc.rpc;

import java.util.Iterator;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.Flow;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.jspecify.annotations.Nullable;

/**
 * The types in which a method can take or return a stream of messages. On the wire they
 * are the same.
 *
 * <p>
 * Implementation notes. Types are recognized by their names, so that nothing of Reactor
 * or of Reactive Streams is loaded before an interface names one of theirs.
 */
enum StreamForm {

	/** Nobody waits. */
	PUBLISHER(Flow.Publisher.class.getName()),

	/** The same, of Reactor. */
	FLUX("reactor.core.publisher.Flux"),

	/** The same, of other libraries. */
	REACTIVE("org.reactivestreams.Publisher"),

	/** Whoever takes the messages waits for each, and closes the stream. */
	STREAM(Stream.class.getName()),

	/** Whoever takes the messages waits for each, to the end. */
	ITERATOR(Iterator.class.getName());

	private final String typeName;

	StreamForm(String typeName) {
		this.typeName = typeName;
	}

	/** The form of a type, or {@code null} if it is no stream of messages. */
	static @Nullable StreamForm of(Class<?> type) {
		for (StreamForm form : values()) {
			if (form.typeName.equals(type.getName())) {
				return form;
			}
		}
		return null;
	}

	/** Whether whoever takes the messages waits for them. */
	boolean blocks() {
		return this == STREAM || this == ITERATOR;
	}

	/** Whether failures are told to subscribers only. */
	boolean signalsFailures() {
		return this == FLUX || this == REACTIVE;
	}

	/**
	 * What users are given to take messages from.
	 * @param atOnce whether to subscribe now, or when the first message is wanted
	 */
	Object given(Flow.Publisher<?> messages, MethodDescriptor method, boolean holdMemory, boolean atOnce) {
		return switch (this) {
			case PUBLISHER -> messages;
			case FLUX -> ReactorForms.flux(messages);
			case REACTIVE -> PublisherForms.given(messages);
			case STREAM, ITERATOR -> awaited(messages, method, holdMemory, atOnce);
		};
	}

	private Object awaited(Flow.Publisher<?> messages, MethodDescriptor method, boolean holdMemory, boolean atOnce) {
		AwaitedMessages awaited = new AwaitedMessages(messages, method, holdMemory);
		if (atOnce) {
			awaited.subscribe();
		}
		return (this == ITERATOR) ? awaited
				: StreamSupport
					.stream(Spliterators.spliteratorUnknownSize(awaited, Spliterator.ORDERED | Spliterator.NONNULL),
							false)
					.onClose(awaited::close);
	}

	/** What a user gives, of this form, with what publishes its messages changed. */
	Object changed(Object messages, UnaryOperator<Flow.Publisher<?>> change) {
		return switch (this) {
			case PUBLISHER -> change.apply((Flow.Publisher<?>) messages);
			case FLUX -> ReactorForms.changed(messages, change);
			case REACTIVE -> PublisherForms.given(change.apply(PublisherForms.published(messages)));
			case STREAM, ITERATOR -> messages;
		};
	}

	/** What publishes the messages that a user gives. */
	Flow.Publisher<?> published(Object messages) {
		return switch (this) {
			case PUBLISHER -> (Flow.Publisher<?>) messages;
			case FLUX -> ReactorForms.published(messages);
			case REACTIVE -> PublisherForms.published(messages);
			case STREAM -> new IteratedMessages(((Stream<?>) messages).iterator(), ((Stream<?>) messages)::close);
			case ITERATOR -> new IteratedMessages((Iterator<?>) messages, () -> {
			});
		};
	}

}
