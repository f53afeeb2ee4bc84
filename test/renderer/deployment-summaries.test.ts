import { describe, expect, it } from 'vitest'
import type { ApiClient } from '../../renderer/api/api-client.ts'
import { createSummaryLoader } from '../../renderer/api/deployment-summaries.ts'
import { ApiError } from '../../server/client/api-error.ts'

/** A client that records its requests. `answers` by operation; what they throw is an error response. */
function clientOf(answers: Record<string, (input: { params?: { slug: string }; query: Record<string, string> }) => unknown>) {
  const calls: string[] = []
  const call = async (id: string, input: { params?: { slug: string }; query: Record<string, string> }) => {
    calls.push(`${id} ${input.params?.slug ?? input.query['slugs'] ?? ''}${input.query['status'] ? ' ready' : ''}`)
    return answers[id]?.(input)
  }
  return { calls, client: { call } as unknown as Pick<ApiClient, 'call'> }
}

const glance = (slug: string) => ({ slug, latest: { id: `newest of ${slug}` }, serving: null })
const listGlances = ({ query }: { query: Record<string, string> }) => ({ glances: (query['slugs'] ?? '').split(',').map(glance) })

describe('a summary of many projects', () => {
  it('is one request for concurrent callers, each project once', async () => {
    const { calls, client } = clientOf({ listGlances })
    const look = createSummaryLoader(client)
    const seen = await Promise.all(['a', 'b', 'a'].map((slug) => look(slug)))
    expect(seen.map(({ latest }) => latest?.id)).toEqual(['newest of a', 'newest of b', 'newest of a'])
    expect(calls).toEqual(['listGlances a,b'])
    await look('a')
    expect(calls).toEqual(['listGlances a,b', 'listGlances a'])
  })

  it('requests no more at once than the contract allows', async () => {
    const { calls, client } = clientOf({ listGlances })
    const look = createSummaryLoader(client)
    await Promise.all(Array.from({ length: 61 }, (_, n) => look(`p${n}`)))
    expect(calls.map((one) => one.split(',').length)).toEqual([60, 1])
  })

  it('reports an omitted project as deleted', async () => {
    const { client } = clientOf({ listGlances: () => ({ glances: [glance('a')] }) })
    const look = createSummaryLoader(client)
    const [a, gone] = await Promise.allSettled([look('a'), look('gone')])
    expect([a.status, gone.status === 'rejected' && (gone.reason as ApiError).code]).toEqual(['fulfilled', 'project_not_found'])
  })

  it('passes on an error, and requests again the next time', async () => {
    let isBusy = true
    const { calls, client } = clientOf({
      listGlances(input) {
        if (isBusy) throw new ApiError('rate_limited', 'Too many.', { status: 429 })
        return listGlances(input)
      },
    })
    const look = createSummaryLoader(client)
    await expect(look('a')).rejects.toMatchObject({ code: 'rate_limited' })
    isBusy = false
    expect((await look('a')).latest?.id).toBe('newest of a')
    expect(calls).toEqual(['listGlances a', 'listGlances a'])
  })

  const serving = { id: 'serving', target: 'production', is_current: true }
  const alone = {
    listDeployments: ({ params, query }: { params?: { slug: string }; query: Record<string, string> }) => ({
      deployments: query['status']
        ? [{ id: 'older' }, serving]
        : params?.slug === 'empty'
          ? []
          : params?.slug === 'plain'
            ? [serving]
            : [{ id: 'failed' }],
    }),
  }

  it('requests one after another from an instance of an earlier version, and does not retry', async () => {
    const { calls, client } = clientOf({
      ...alone,
      listGlances() {
        throw new ApiError('route_not_found', 'Nothing here.', { status: 404 })
      },
    })
    const look = createSummaryLoader(client)
    const [plain, failed, twice, empty] = await Promise.all([look('plain'), look('mixed'), look('mixed'), look('empty')])
    expect([plain?.serving?.id, failed?.latest?.id, twice?.serving?.id, empty]).toEqual([
      'serving',
      'failed',
      'serving',
      { latest: null, serving: null },
    ])
    expect(calls).toEqual([
      'listGlances plain,mixed,empty',
      'listDeployments plain',
      'listDeployments mixed',
      'listDeployments empty',
      'listDeployments mixed ready',
    ])
    await look('plain')
    expect(calls.at(-1)).toBe('listDeployments plain')
  })

  it('never sends the batch request to a hosted account', async () => {
    const { calls, client } = clientOf(alone)
    await createSummaryLoader(client)('plain', true)
    expect(calls).toEqual(['listDeployments plain'])
  })
})
