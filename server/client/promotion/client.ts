import type { CallInput, CallOutput, DownloadOperationId, UploadOperationId } from '../operation-types.ts'
import type { OperationId } from '../../contract/index.ts'

export interface TransferOptions {
  signal: AbortSignal
  /** Bytes so far, and the total; null if unknown. */
  onProgress(bytes: number, total: number | null): void
}

/** How a promotion calls an instance. The dashboard stores files in memory or in browser storage; the command line in temporary files. */
export interface PromotionClient {
  /** Throws an ApiError. */
  call<Id extends OperationId>(id: Id, input: CallInput<Id>): Promise<CallOutput<Id>>
  /** Throws an ApiError, also for a truncated file and one larger than `max_bytes`. */
  download<Id extends DownloadOperationId>(id: Id, input: CallInput<Id>, options: TransferOptions & { max_bytes: number }): Promise<Blob>
  upload<Id extends UploadOperationId>(id: Id, input: CallInput<Id>, file: Blob, options: TransferOptions & { type: string }): Promise<CallOutput<Id>>
}

/** A project of an instance. */
export interface PromotionProject {
  client: PromotionClient
  slug: string
}
