import { problemOf, unreachable } from './problem.ts'

export interface SendFile {
  file: Blob
  /** What the file is, in the words of the contract. */
  type: string
  signal?: AbortSignal
  onProgress?: (sent: number) => void
}

/**
 * Sends a file as the body of a request, and tells how far it is: `fetch` cannot say that. Throws an ApiProblem when it is
 * refused, and the reason of the signal when that ends it: nothing of it goes on then.
 */
export function sendFile(method: string, url: string, headers: Record<string, string>, { file, type, signal, onProgress }: SendFile): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const stop = () => request.abort()
    request.open(method, url)
    for (const [name, value] of Object.entries({ ...headers, 'content-type': type })) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded }) => onProgress?.(loaded)
    request.onabort = () => reject(signal?.reason ?? new DOMException('The sending was stopped.', 'AbortError'))
    request.onerror = () => reject(unreachable(undefined))
    request.onload = () => {
      // A token was given for that address alone; a browser follows a redirect by itself here, and its answer counts for nothing.
      if (request.responseURL !== new URL(url, location.href).href) return reject(unreachable(undefined))
      const answer = new Response(request.status === 204 ? null : request.responseText, { status: request.status, headers: headersOf(request) })
      if (answer.ok) resolve(answer)
      else void problemOf(answer).then(reject)
    }
    request.onloadend = () => signal?.removeEventListener('abort', stop)
    if (signal?.aborted) return reject(signal.reason)
    signal?.addEventListener('abort', stop)
    request.send(file)
  })
}

function headersOf(request: XMLHttpRequest): Headers {
  const headers = new Headers()
  for (const name of ['content-type', 'retry-after', 'x-request-id']) {
    const value = request.getResponseHeader(name)
    if (value !== null) headers.set(name, value)
  }
  return headers
}
