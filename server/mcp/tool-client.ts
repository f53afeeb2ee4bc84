import type { CallInput, CallOutput, DownloadOperationId } from '../client/operation-types.ts'
import type { OperationId } from '../contract/index.ts'

/** The API as tools call it: over HTTP, with the token of the agent, so that every check of the API applies. */
export interface ToolClient {
  call<Id extends OperationId>(id: Id, input: CallInput<Id>, timeout_ms?: number): Promise<CallOutput<Id>>
  download<Id extends DownloadOperationId>(id: Id, input: CallInput<Id>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}
