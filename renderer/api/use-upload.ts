import { useEffect, useRef, useState } from 'react'
import { useClient } from './query.ts'
import type { CallOutput, CallInput, UploadOperationId } from '../../server/client/operation-types.ts'
import type { ApiError } from '../../server/client/api-error.ts'
import { toApiError } from '../lib/api-error.ts'
import { isAbortError } from './send-file.ts'

/** A file that is uploading, or uploaded and being processed. */
export interface Transfer {
  name: string
  sent: number
  total: number
  /** Bytes per second over the last seconds; null until known. */
  rate: number | null
  /** Milliseconds; null until known and after the upload is complete. */
  remaining_ms: number | null
}

/** Uploads a file to an operation and reports progress. `cancel` or leaving the page aborts it. */
export function useUpload<Id extends UploadOperationId>(id: Id, onDone: (answer: CallOutput<Id>) => void) {
  const client = useClient()
  const [transfer, setTransfer] = useState<Transfer | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const activeUpload = useRef<AbortController | null>(null)
  useEffect(() => () => activeUpload.current?.abort(), [])

  const start = async (input: CallInput<Id>, file: File, type: string) => {
    activeUpload.current?.abort()
    const controller = new AbortController()
    activeUpload.current = controller
    const estimateRate = createRateEstimator()
    setError(null)
    setTransfer({ name: file.name, sent: 0, total: file.size, rate: null, remaining_ms: null })
    try {
      const answer = await client.upload(id, input, file, {
        type,
        signal: controller.signal,
        onProgress: (sent, total) =>
          !controller.signal.aborted && setTransfer({ name: file.name, sent, total, ...estimateRate(sent, total, performance.now()) }),
      })
      if (activeUpload.current === controller) setTransfer(null)
      onDone(answer)
    } catch (reason) {
      if (activeUpload.current !== controller) return
      setTransfer(null)
      if (!isAbortError(reason)) setError(toApiError(reason))
    }
  }
  return { transfer, isPending: transfer !== null, error, start, cancel: () => activeUpload.current?.abort(), reset: () => setError(null) }
}

const rateWindow_ms = 4_000

/** Rate over the last seconds, and the remaining time at that rate. */
export function createRateEstimator() {
  const samples: { at: number; sent: number }[] = []
  return (sent: number, total: number, at: number): { rate: number | null; remaining_ms: number | null } => {
    samples.push({ at, sent })
    while (samples.length > 2 && at - (samples[0]?.at ?? at) > rateWindow_ms) samples.shift()
    const first = samples[0]
    if (!first || at - first.at < 300) return { rate: null, remaining_ms: null }
    const rate = ((sent - first.sent) / (at - first.at)) * 1000
    return { rate, remaining_ms: rate > 0 && sent < total ? ((total - sent) / rate) * 1000 : null }
  }
}
