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

import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.codec.SegmentOwner;
import dev.rdmarpc.memory.RegisteredBuffer;
import dev.rdmarpc.transport.RequestTemplate;

/**
 * A method of a service, compiled once: its name, settings and message formats. The
 * formats of older and newer peers are compiled when the first of them calls.
 * Thread-safe.
 */
public final class MethodDescriptor implements CalledMethod {

	private static final int MAX_ARGUMENTS = 255;

	/** Peers do not compare longer ones. */
	private static final int MAX_SCHEMA_LENGTH = 32 * 1024;

	private static final Set<Class<?>> STABLE = Set.of(Boolean.class, Byte.class, Short.class, Character.class,
			Integer.class, Long.class, Float.class, Double.class, String.class, UUID.class, URI.class, Duration.class,
			Instant.class, LocalDate.class, LocalTime.class, LocalDateTime.class, OffsetDateTime.class,
			ZonedDateTime.class, OffsetTime.class, Year.class, YearMonth.class, MonthDay.class, Period.class,
			ZoneId.class, RegisteredBuffer.class);

	private final String service;

	private final String name;

	private final Method javaMethod;

	private final BoundTypes types;

	private final ReplyForm replyForm;

	/** In which form it returns a stream, {@code null} if it returns none. */
	private final @Nullable StreamForm resultForm;

	/** In which form it takes one. */
	private final @Nullable StreamForm messageForm;

	private final boolean resultHoldsMemory;

	private final boolean messagesHoldMemory;

	/** Which parameter is the stream of messages; negative for none. */
	private final int streamParameter;

	/** How many arguments requests have, but for a stream. */
	private final int argumentCount;

	/** Which parameter is the key of calls; negative for none. */
	private final int hashParameter;

	private final boolean inline;

	private final boolean idempotent;

	private final boolean oneWay;

	private final boolean stableArguments;

	private final boolean plain;

	private final @Nullable Duration deadline;

	private final long id;

	private final @Nullable Priority priority;

	private final RequestTemplate[] templates;

	private final ArgumentFormats arguments;

	private final MessageCodec codec;

	private final MessageFormat result;

	private final @Nullable MessageFormat messages;

	private final DeclaredExceptions exceptions;

	private final DetailsFormats details;

	private final @Nullable String schema;

	private final long schemaHash;

	MethodDescriptor(String service, Method javaMethod, BoundTypes types, MessageCodec codec) {
		this(service, nameOf(javaMethod), -1, javaMethod, types, codec);
	}

	/**
	 * A method under another name.
	 * @param arguments what requests say how many there are; negative for as many as the
	 * method has
	 */
	MethodDescriptor(String service, String name, int arguments, Method javaMethod, BoundTypes types,
			MessageCodec codec) {
		RdmaMethod settings = javaMethod.getAnnotation(RdmaMethod.class);
		this.service = service;
		this.javaMethod = javaMethod;
		this.types = types;
		this.name = name;
		this.replyForm = ReplyForm.of(javaMethod);
		this.resultForm = StreamForm.of(javaMethod.getReturnType());
		this.streamParameter = streamParameter();
		this.messageForm = consuming() ? StreamForm.of(javaMethod.getParameterTypes()[this.streamParameter]) : null;
		this.hashParameter = HashKeys.parameterOf(javaMethod, service + "/" + this.name);
		this.plain = this.resultForm == null && !consuming() && !later();
		this.inline = settings != null && settings.inline();
		this.idempotent = settings != null && settings.idempotent() && !consuming();
		this.oneWay = settings != null && settings.oneWay();
		if (this.oneWay) {
			checkOneWay();
		}
		this.stableArguments = Arrays.stream(javaMethod.getParameterTypes())
			.allMatch((type) -> isStable(type, new HashSet<>()));
		this.deadline = (settings != null && settings.deadlineMillis() > 0)
				? Duration.ofMillis(settings.deadlineMillis()) : null;
		if (javaMethod.getParameterCount() > MAX_ARGUMENTS) {
			throw new IllegalArgumentException(service + "/" + this.name + " has " + javaMethod.getParameterCount()
					+ " parameters (expected: at most " + MAX_ARGUMENTS + ")");
		}
		this.id = idOf(service, this.name);
		this.argumentCount = (arguments >= 0) ? arguments : javaMethod.getParameterCount() - (consuming() ? 1 : 0);
		this.priority = DeclaredPriority.of(javaMethod);
		Priority[] priorities = Priority.values();
		this.templates = new RequestTemplate[priorities.length];
		for (Priority each : priorities) {
			this.templates[each.code()] = new RequestTemplate(this.id, each.code(), argumentCount());
		}
		this.codec = codec;
		MethodSignature signature = signature();
		this.arguments = new ArgumentFormats(codec, signature, this.argumentCount);
		this.result = codec.result(signature);
		this.exceptions = new DeclaredExceptions(service, this.name, javaMethod, codec);
		this.details = new DetailsFormats(service, this.name, codec);
		this.messages = consuming() ? codec.result(messageSignature()) : null;
		this.resultHoldsMemory = HoldingTypes.include(signature.resultType());
		this.messagesHoldMemory = consuming() && HoldingTypes.include(messageSignature().resultType());
		this.schema = schemaOf(signature);
		this.schemaHash = (this.schema != null) ? hash(this.schema) : 0;
	}

	private void checkOneWay() {
		Class<?>[] exceptions = this.javaMethod.getExceptionTypes();
		String problem = (this.javaMethod.getReturnType() != void.class)
				? "returns " + this.javaMethod.getReturnType().getSimpleName() : (exceptions.length > 0)
						? "declares " + exceptions[0].getSimpleName() : consuming() ? "takes a stream" : null;
		if (problem != null) {
			throw new InvalidInterfaceException(
					"@RdmaMethod(oneWay = true) on " + this.service + "/" + this.name + ", which " + problem
							+ " (expected: a method that returns void, declares no exceptions and takes no stream)",
					"remove oneWay, or change the method");
		}
	}

	private int streamParameter() {
		Class<?>[] types = this.javaMethod.getParameterTypes();
		int found = -1;
		for (int i = 0; i < types.length; i++) {
			if (StreamForm.of(types[i]) == null) {
				continue;
			}
			if (found >= 0) {
				throw new InvalidInterfaceException(
						this.service + "/" + this.name + " takes two streams of messages (expected: at most one "
								+ "parameter of type Flow.Publisher, Publisher, Flux, Stream or Iterator)",
						"make them one stream, or two methods");
			}
			found = i;
		}
		return found;
	}

	/** How many parameters it has, but for a stream. */
	int argumentCount() {
		return this.argumentCount;
	}

	/** Of the messages, as if the method returned them. */
	private MethodSignature messageSignature() {
		Parameter parameter = this.javaMethod.getParameters()[this.streamParameter];
		return new MethodSignature(this.service, this.name + "(" + parameter.getName() + ")", List.of(), List.of(),
				elementOf(this.types.resolve(parameter.getParameterizedType())));
	}

	private static Type elementOf(Type stream) {
		return (stream instanceof ParameterizedType generic) ? generic.getActualTypeArguments()[0] : Object.class;
	}

	/**
	 * Which directions are streams, and the digest of the types, those of the messages
	 * that follow first: parameters can be added at the end.
	 */
	private @Nullable String schemaOf(MethodSignature signature) {
		List<String> names = new ArrayList<>(signature.parameterNames());
		List<Type> all = new ArrayList<>(signature.parameterTypes());
		if (consuming()) {
			names.add(0, "messages");
			all.add(0, messageSignature().resultType());
		}
		String digest = this.codec
			.digest(new MethodSignature(this.service, this.name, names, all, signature.resultType()));
		return (digest != null && digest.length() <= MAX_SCHEMA_LENGTH)
				? ((streaming() ? 1 : 0) + (consuming() ? 2 : 0)) + digest : null;
	}

	static String nameOf(Method method) {
		RdmaMethod settings = method.getAnnotation(RdmaMethod.class);
		return (settings != null && !settings.name().isEmpty()) ? settings.name() : method.getName();
	}

	/**
	 * Whether values of that type do not change until the call is done, because they are
	 * immutable or lent to the call.
	 */
	private static boolean isStable(Class<?> type, Set<Class<?>> above) {
		if (type.isRecord()) {
			return !above.add(type) || Arrays.stream(type.getRecordComponents())
				.allMatch((component) -> isStable(component.getType(), above));
		}
		return type.isPrimitive() || type.isEnum() || STABLE.contains(type)
				|| SegmentOwner.class.isAssignableFrom(type);
	}

	private MethodSignature signature() {
		List<String> names = new ArrayList<>();
		List<Type> parameterTypes = new ArrayList<>();
		for (int i = 0; i < this.javaMethod.getParameterCount(); i++) {
			if (i == this.streamParameter) {
				continue;
			}
			names.add(this.javaMethod.getParameters()[i].getName());
			parameterTypes.add(this.javaMethod.getGenericParameterTypes()[i]);
		}
		Type resultType = this.types.resolve(this.javaMethod.getGenericReturnType());
		if (asynchronous() || streaming()) {
			resultType = elementOf(resultType);
			if (resultType == Void.class && asynchronous()) {
				resultType = void.class;
			}
		}
		return new MethodSignature(this.service, this.name, names,
				this.types.resolve(parameterTypes.toArray(Type[]::new)), resultType);
	}

	/** Those of its messages: of the request and reply, and of what follows a request. */
	List<MethodSignature> signatures() {
		return consuming() ? List.of(signature(), messageSignature()) : List.of(signature());
	}

	/**
	 * The schema of its messages alone, as {@link ServiceDescriptor#printedSchema()} has
	 * it.
	 * @return the text, or {@code null} if the codec prints none
	 */
	public @Nullable String printedSchema() {
		return this.codec.schema(this.service, signatures());
	}

	MessageCodec codec() {
		return this.codec;
	}

	/**
	 * The number by which requests name a method: the first eight bytes, big-endian, of
	 * SHA-256 over {@code service/method} in UTF-8.
	 */
	static long idOf(String service, String method) {
		return hash(service + "/" + method);
	}

	private static long hash(String text) {
		try {
			byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
			return java.nio.ByteBuffer.wrap(digest).getLong();
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * What peers must agree about: a digit that says which directions are streams, and
	 * the codec's digest of the types. {@code null} if they are not compared.
	 */
	@Nullable String schema() {
		return this.schema;
	}

	/** The hash of the schema, made like the id; 0 if peers are not compared. */
	long schemaHash() {
		return this.schemaHash;
	}

	/** Whether another method of that name has that schema. */
	boolean hasSchemaOf(MethodDescriptor other) {
		return this.id == other.id && this.schemaHash == other.schemaHash;
	}

	/**
	 * What contradicts the schema of a peer's method, or {@code null} if nothing does. A
	 * peer that has streams where this side has none refuses the call itself.
	 */
	@Nullable String contradictionOf(String peers) {
		String own = this.schema;
		if (own == null || peers.isEmpty() || peers.charAt(0) != own.charAt(0)) {
			return null;
		}
		return this.codec.difference(shown(own), shown(peers));
	}

	/** What is shown of a schema. */
	static String shown(@Nullable String schema) {
		return (schema == null || schema.isEmpty()) ? "" : schema.substring(1);
	}

	@Override
	public String service() {
		return this.service;
	}

	@Override
	public String name() {
		return this.name;
	}

	/** Service and method, as messages name them. */
	public String fullName() {
		return this.service + "/" + this.name;
	}

	/** The interface method. */
	public Method javaMethod() {
		return this.javaMethod;
	}

	/**
	 * Whether it returns a {@link CompletableFuture} or {@link CompletionStage}, or a
	 * {@code Mono} of Reactor.
	 */
	public boolean asynchronous() {
		return this.replyForm != ReplyForm.VALUE;
	}

	/** Whether its calls are made by those who subscribe to what it returns. */
	boolean later() {
		return this.replyForm == ReplyForm.MONO;
	}

	/** Whether calling it is one request now, and one reply. */
	boolean plain() {
		return this.plain;
	}

	/**
	 * Whether it returns a stream of messages: a {@link Flow.Publisher}, a
	 * {@link java.util.stream.Stream} or an {@link java.util.Iterator}, a {@code Flux} of
	 * Reactor, or a {@code Publisher} of Reactive Streams.
	 */
	public boolean streaming() {
		return this.resultForm != null;
	}

	/** Whether it takes a stream of messages, of one of the same types. */
	public boolean consuming() {
		return this.streamParameter >= 0;
	}

	/** Whether its handler waits for each message that it takes. */
	boolean awaitsMessages() {
		return this.messageForm != null && this.messageForm.blocks();
	}

	/** Whether what it returns, or publishes, may hold the memory it was received in. */
	boolean resultHoldsMemory() {
		return this.resultHoldsMemory;
	}

	/** Whether the messages that it takes may. */
	boolean messagesHoldMemory() {
		return this.messagesHoldMemory;
	}

	/** What a caller gets for the stream that replies. */
	Object givenResult(Flow.Publisher<?> replies) {
		return Objects.requireNonNull(this.resultForm).given(replies, this, this.resultHoldsMemory, true);
	}

	/** Whether those who subscribe to its result are told that a call cannot be made. */
	boolean signalsFailures() {
		return this.resultForm != null && this.resultForm.signalsFailures();
	}

	/** What a caller gets for a reply to calls that are made later. */
	Object givenReply(Supplier<? extends CompletableFuture<?>> call) {
		return ReactorForms.mono(call, this.resultHoldsMemory);
	}

	/** The promise of an asynchronous handler. */
	CompletionStage<?> promised(Object returned) {
		return this.replyForm.stage(returned);
	}

	/** What publishes the stream that the handler has returned. */
	Flow.Publisher<?> publishedResult(Object stream) {
		return Objects.requireNonNull(this.resultForm).published(stream);
	}

	/** The same for a stream that is no {@link Flow.Publisher}, as that changes it. */
	Object changedResult(Object stream, UnaryOperator<Flow.Publisher<?>> change) {
		return Objects.requireNonNull(this.resultForm).changed(stream, change);
	}

	/** The stream among the arguments. */
	Flow.Publisher<?> streamOf(@Nullable Object[] all) {
		Object stream = all[this.streamParameter];
		if (stream == null) {
			throw new NullPointerException(fullName() + " was called with null as stream of messages");
		}
		return Objects.requireNonNull(this.messageForm).published(stream);
	}

	/** The arguments but for the stream. */
	@Nullable Object[] withoutStream(@Nullable Object[] all) {
		@Nullable Object[] rest = new Object[all.length - 1];
		System.arraycopy(all, 0, rest, 0, this.streamParameter);
		System.arraycopy(all, this.streamParameter + 1, rest, this.streamParameter, rest.length - this.streamParameter);
		return rest;
	}

	/** The arguments with the stream. */
	@Nullable Object[] withStream(@Nullable Object arguments, Flow.Publisher<?> stream) {
		@Nullable Object[] rest = (@Nullable Object[]) Objects.requireNonNull(arguments);
		@Nullable Object[] all = new Object[rest.length + 1];
		System.arraycopy(rest, 0, all, 0, this.streamParameter);
		all[this.streamParameter] = Objects.requireNonNull(this.messageForm)
			.given(stream, this, this.messagesHoldMemory, false);
		System.arraycopy(rest, this.streamParameter, all, this.streamParameter + 1, rest.length - this.streamParameter);
		return all;
	}

	/** Which parameter is the key of calls; negative for none. */
	int hashParameter() {
		return this.hashParameter;
	}

	/** Whether its handler always runs on the thread of the loop. */
	public boolean inline() {
		return this.inline;
	}

	/** Whether a lost call may be retried. */
	public boolean idempotent() {
		return this.idempotent;
	}

	/** Whether the caller goes on when the request was sent, and nobody replies. */
	public boolean oneWay() {
		return this.oneWay;
	}

	/**
	 * Whether the arguments of a call are the same as long as it lasts, because they are
	 * immutable or lent to the call.
	 */
	public boolean stableArguments() {
		return this.stableArguments;
	}

	/** The priority that it declares; {@code null} if that of the client counts. */
	public @Nullable Priority priority() {
		return this.priority;
	}

	@Nullable Duration deadline() {
		return this.deadline;
	}

	long id() {
		return this.id;
	}

	/** Of the priority of a call, else of the one declared, else of the client's. */
	RequestTemplate template(@Nullable Priority ofCall, Priority ofClient) {
		Priority declared = (this.priority != null) ? this.priority : ofClient;
		return this.templates[((ofCall != null) ? ofCall : declared).code()];
	}

	MessageFormat arguments() {
		return this.arguments.own();
	}

	/**
	 * How to decode what a peer sends, which may be older or newer.
	 * @param count the number of its arguments
	 */
	MessageFormat arguments(int count) {
		return this.arguments.of(count);
	}

	MessageFormat result() {
		return this.result;
	}

	DeclaredExceptions exceptions() {
		return this.exceptions;
	}

	DetailsFormats details() {
		return this.details;
	}

	/** The format of the messages that follow a request. */
	MessageFormat messages() {
		return Objects.requireNonNull(this.messages);
	}

	@Override
	public String toString() {
		return fullName();
	}

}
