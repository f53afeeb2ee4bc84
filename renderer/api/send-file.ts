import { readError } from '../../server/client/api-error.ts'
import { unreachableError } from '../lib/api-error.ts'
import { sessionHeaders } from './session.ts'

export interface SendFileOptions {
  /** Field name of the file in the contract. */
  type: string
  signal?: AbortSignal
  onProgress?: (sent: number, total: number) => void
}

/**
 * Posts a file and reports upload progress, which `fetch` does not support. Throws an ApiError on failure, or the abort reason of the signal; the
 * request is then aborted.
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
    request.addEventListener('error', () => reject(unreachableError(undefined)))
    request.addEventListener('load', () => {
      const { status, responseText: text } = request
      // XMLHttpRequest follows redirects automatically; a response from another URL is rejected.
      if (request.responseURL !== new URL(url, location.href).href) reject(unreachableError(undefined))
      else if (status >= 200 && status < 300) resolve({ status, text })
      else void readError(new Response(text, { status, headers: readHeaders(request) })).then(reject)
    })
    request.addEventListener('loadend', () => signal?.removeEventListener('abort', stop))
    signal?.addEventListener('abort', stop)
    request.send(file)
  })
}

/** Whether the error is a deliberate abort. */
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
