import { useEffect, useRef, useState } from 'react'
import type { Answer, CallInput, UploadId } from './client.ts'
import { type ApiProblem, problemFrom } from './problem.ts'
import { useClient } from './queries.ts'
import { isGivenUp } from './send-file.ts'

/** A file on its way, or sent and being worked on. */
export interface Transfer {
  name: string
  sent: number
  total: number
  /** Bytes a second, over the last seconds; null until it can be told. */
  rate: number | null
  /** Milliseconds; null until it can be told, and when all is sent. */
  left_ms: number | null
}

/** Sends a file to an operation that takes one, with its progress; `cancel` ends it, and so does leaving the page. */
export function useUpload<Id extends UploadId>(id: Id, onDone: (answer: Answer<Id>) => void) {
  const client = useClient()
  const [transfer, setTransfer] = useState<Transfer | null>(null)
  const [problem, setProblem] = useState<ApiProblem | null>(null)
  const under = useRef<AbortController | null>(null)
  useEffect(() => () => under.current?.abort(), [])

  const start = async (input: CallInput<Id>, file: File, type: string) => {
    under.current?.abort()
    const stopped = new AbortController()
    under.current = stopped
    const pace = createPace()
    setProblem(null)
    setTransfer({ name: file.name, sent: 0, total: file.size, rate: null, left_ms: null })
    try {
      const answer = await client.upload(id, input, file, {
        type,
        signal: stopped.signal,
        onProgress: (sent, total) =>
          !stopped.signal.aborted && setTransfer({ name: file.name, sent, total, ...pace(sent, total, performance.now()) }),
      })
      if (under.current === stopped) setTransfer(null)
      onDone(answer)
    } catch (error) {
      if (under.current !== stopped) return
      setTransfer(null)
      if (!isGivenUp(error)) setProblem(problemFrom(error))
    }
  }
  return { transfer, problem, start, cancel: () => under.current?.abort(), forget: () => setProblem(null) }
}

const window_ms = 4_000

/** How quick the last seconds were, and how long the rest takes at that. */
export function createPace() {
  const seen: { at: number; sent: number }[] = []
  return (sent: number, total: number, at: number): { rate: number | null; left_ms: number | null } => {
    seen.push({ at, sent })
    while (seen.length > 2 && at - (seen[0]?.at ?? at) > window_ms) seen.shift()
    const first = seen[0]
    if (!first || at - first.at < 300) return { rate: null, left_ms: null }
    const rate = ((sent - first.sent) / (at - first.at)) * 1000
    return { rate, left_ms: rate > 0 && sent < total ? ((total - sent) / rate) * 1000 : null }
  }
}
