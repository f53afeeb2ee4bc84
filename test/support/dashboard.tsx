import { QueryClientProvider, type QueryKey } from '@tanstack/react-query'
import { configure, render } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import type { ReactElement } from 'react'
import { vi } from 'vitest'
import { localConnection } from '../../renderer/stores/connection.ts'
import type { CallOutput } from '../../server/client/operation-types.ts'
import { type ErrorCode, errorStatus } from '../../server/contract/errors.ts'
import { allOperations, type OperationId } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import { partTimeout_ms } from './until.ts'

configure({
  // Before the test times out, so that its error says what the page shows.
  asyncUtilTimeout: partTimeout_ms - 10_000,
  getElementError: (message) => new Error(`${message?.split('\n')[0]}\nThe page: ${readPage()}`),
})

export interface PartOptions {
  /** Responses that are loaded, by their query keys. */
  data?: readonly [QueryKey, unknown][]
  /** The responses to other requests, by operation. A request without one is never answered. */
  answers?: { [Id in OperationId]?: CallOutput<Id> | Response }
}

/** A request that is not a GET, as the contract reads it. */
export interface SentRequest {
  operation: string
  params: Record<string, string>
  body?: unknown
}

/**
 * Renders a part of the dashboard in an emulated document. Its requests must be valid by the contract. What only a browser can show (layout,
 * focus, colors, scrolling) is tested in `e2e/`.
 */
export function renderPart(element: ReactElement, { data = [], answers = {} }: PartOptions = {}) {
  const { cache } = localConnection
  for (const [key, value] of data) cache.setQueryData(key, value)
  const sent: SentRequest[] = []
  vi.stubGlobal('fetch', async (address: string, { method = 'GET', body }: RequestInit = {}) => {
    const request = parseRequest(method, address, typeof body === 'string' ? body : undefined)
    if (method !== 'GET') sent.push(request)
    const answer = answers[request.operation as OperationId]
    if (answer === undefined) return new Promise(() => {})
    return answer instanceof Response ? answer.clone() : Response.json(answer)
  })
  const main = document.createElement('main')
  main.id = 'main'
  document.body.append(main)
  render(<QueryClientProvider client={cache}>{element}</QueryClientProvider>, { container: main })
  return {
    sent,
    user: userEvent.setup(),
    /** What a user reads on the page, in order; `[label]` stands for what has no text. */
    text: readPage,
  }
}

/** The response of a failed request. */
export const problemResponse = (error: ErrorCode, message: string): Response =>
  Response.json({ error, message, request_id: `req_${'0'.repeat(26)}` }, { status: errorStatus[error] })

const routes = Object.entries<OperationSpec>(allOperations)
  .map(([operation, spec]) => ({ operation, spec, pattern: new RegExp(`^${spec.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`) }))
  .toSorted((a, b) => a.spec.path.split('{').length - b.spec.path.split('{').length)

/** Throws for a request that the contract does not allow. */
function parseRequest(method: string, address: string, text: string | undefined): SentRequest {
  const { pathname, searchParams } = new URL(address, location.href)
  const route = routes.find(({ spec, pattern }) => spec.method === method && pattern.test(pathname))
  if (!route) throw new Error(`No operation is at ${method} ${pathname}.`)
  const { operation, spec, pattern } = route
  const params = Object.fromEntries(Object.entries(pattern.exec(pathname)?.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]))
  spec.query.parse(Object.fromEntries(searchParams))
  if (!spec.body) return { operation, params }
  const body: unknown = JSON.parse(text ?? 'null')
  spec.body.parse(body)
  return { operation, params, body }
}

const readPage = (): string => readText(document.body).replace(/\s+/g, ' ').trim()

const inlineElements = new Set(['SPAN', 'STRONG', 'CODE', 'A', 'TIME', 'EM'])

function readText(node: Node): string {
  if (node instanceof Text) return node.data
  if (!(node instanceof Element) || node.getAttribute('aria-hidden') === 'true') return ''
  const label = node.getAttribute('aria-label')
  const isField = node instanceof HTMLInputElement || node instanceof HTMLSelectElement || node instanceof HTMLTextAreaElement
  const content = isField ? (node.type === 'checkbox' ? '' : node.value) : [...node.childNodes].map(readText).join('')
  const text = label === null ? content : ` [${label}] ${content}`
  return inlineElements.has(node.tagName) ? text : ` ${text} `
}
