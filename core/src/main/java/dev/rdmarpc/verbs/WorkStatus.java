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

package dev.rdmarpc.verbs;

/** How a work request ended; the names follow the verbs standard. */
public enum WorkStatus {

	/** Done. */
	SUCCESS,

	/** A message did not fit the posted receive, or exceeded the device's maximum. */
	LOCAL_LENGTH_ERROR,

	/** A local segment is outside its region, deregistered, or of another domain. */
	LOCAL_PROTECTION_ERROR,

	/** The request itself was invalid for this queue pair. */
	LOCAL_OPERATION_ERROR,

	/**
	 * The peer could not accept the request: it was malformed, or no receive was posted.
	 */
	REMOTE_INVALID_REQUEST,

	/** The peer refused access: key, bounds, permission or domain. */
	REMOTE_ACCESS_ERROR,

	/** The peer failed while executing the request. */
	REMOTE_OPERATION_ERROR,

	/** The connection was lost before the request could end. */
	CONNECTION_LOST,

	/** The queue pair was in error, or entered it, before the request was executed. */
	FLUSHED

}
