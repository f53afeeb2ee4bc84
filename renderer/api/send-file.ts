import { readProblem, unreachableProblem } from '../lib/api-problem.ts'
import { sessionHeaders } from './session.ts'

export interface SendFileOptions {
  /** What the file is, in the words of the contract. */
  type: string
  signal?: AbortSignal
  onProgress?: (sent: number, total: number) => void
}

/**
 * Posts a file, and tells how far it is on its way: `fetch` cannot say that. Throws an ApiProblem when it is refused, and the reason
 * of the signal when that ends it: nothing of it goes on then.
 */
export function sendFile(url: string, file: Blob, { type, signal, onProgress }: SendFileOptions): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const request = new XMLHttpRequest()
    const stop = () => request.abort()
    request.open('POST', url)
    request.setRequestHeader('content-type', type)
    for (const [name, value] of Object.entries(sessionHeaders())) request.setRequestHeader(name, value)
    request.upload.addEventListener('progress', ({ loaded }) => onProgress?.(loaded, file.size))
    request.addEventListener('abort', () => reject(signal?.reason ?? new DOMException('The upload was canceled.', 'AbortError')))
    request.addEventListener('error', () => reject(unreachableProblem(undefined)))
    request.addEventListener('load', () => {
      const { status, responseText: text } = request
      // A browser follows a redirect by itself here; what answers elsewhere counts for nothing.
      if (request.responseURL !== new URL(url, location.href).href) reject(unreachableProblem(undefined))
      else if (status >= 200 && status < 300) resolve({ status, text })
      else void readProblem(new Response(text, { status, headers: readHeaders(request) })).then(reject)
    })
    request.addEventListener('loadend', () => signal?.removeEventListener('abort', stop))
    signal?.addEventListener('abort', stop)
    request.send(file)
  })
}

/** Whether it ended because somebody wanted it to. */
export function isAbortError(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

function readHeaders(request: XMLHttpRequest): Headers {
  const headers = new Headers()
  for (const name of ['retry-after', 'x-request-id']) {
    const value = request.getResponseHeader(name)
    if (value !== null) headers.set(name, value)
  }
  return headers
}
