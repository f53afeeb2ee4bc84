import { useQuery } from '@tanstack/react-query'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Client } from './client.ts'
import { keys } from './keys.ts'
import { useOffered } from './offered.ts'
import { ApiProblem } from './problem.ts'
import { useClient } from './queries.ts'

/** What a row of the list shows of a project beside itself. */
interface Glance {
  latest: Deployment | null
  serving: Deployment | null
}

/** `isAlone`: the instance does not tell of several at once (a hosted account). */
type Look = (slug: string, isAlone?: boolean) => Promise<Glance>

// As many as the contract allows in one question.
const atOnce = 60
const looks = new WeakMap<Client, Look>()

/** The newest and the serving deployment for a row; undefined until they are known. What they are is kept true where everybody looks. */
export function useGlance(slug: string, enabled: boolean): { latest: Deployment | null | undefined; serving: Deployment | null | undefined } {
  const look = lookOf(useClient())
  const offered = useOffered()
  const ask = () => look(slug, offered.is_known && !offered.instance)
  const { data: latest } = useQuery({ queryKey: keys.latest(slug), enabled, queryFn: async () => (await ask()).latest })
  const { data: serving } = useQuery({ queryKey: keys.serving(slug), enabled, queryFn: async () => (await ask()).serving })
  return { latest, serving }
}

function lookOf(client: Client): Look {
  const look = looks.get(client) ?? createLook(client)
  looks.set(client, look)
  return look
}

/** Rows that come to rest together are one question: who scrolls ten thousand of them does not run into the limit of requests. */
export function createLook(client: Pick<Client, 'call'>): Look {
  let waiting = new Map<string, PromiseWithResolvers<Glance>>()
  let isLacking = false

  const askEach = (group: typeof waiting) => {
    for (const [slug, { resolve }] of group) resolve(lookAlone(client, slug))
  }
  const askFor = async (group: typeof waiting) => {
    try {
      const { glances } = await client.call('listGlances', { query: { slugs: [...group.keys()].join(',') } })
      for (const { slug, latest, serving } of glances) group.get(slug)?.resolve({ latest, serving })
      for (const { reject } of group.values()) reject(new ApiProblem('project_not_found', 'There is no such project any more.', { status: 404 }))
    } catch (error) {
      // An instance of an earlier version.
      isLacking ||= error instanceof ApiProblem && error.code === 'route_not_found'
      if (isLacking) askEach(group)
      else for (const { reject } of group.values()) reject(error)
    }
  }
  const send = () => {
    const all = [...waiting]
    waiting = new Map()
    if (isLacking) askEach(new Map(all))
    else for (let from = 0; from < all.length; from += atOnce) void askFor(new Map(all.slice(from, from + atOnce)))
  }

  return (slug, isAlone = false) => {
    isLacking ||= isAlone
    // A task later, so that those join that try once more at the same moment.
    if (waiting.size === 0) setTimeout(send)
    const known = waiting.get(slug) ?? Promise.withResolvers<Glance>()
    waiting.set(slug, known)
    return known.promise
  }
}

async function lookAlone(client: Pick<Client, 'call'>, slug: string): Promise<Glance> {
  const params = { slug }
  const [latest = null] = (await client.call('listDeployments', { params, query: { limit: '1' } })).deployments
  // Mostly the newest is what serves.
  if (latest === null || (latest.target === 'production' && latest.is_current)) return { latest, serving: latest }
  const page = await client.call('listDeployments', { params, query: { target: 'production', status: 'ready', limit: '50' } })
  return { latest, serving: page.deployments.find((deployment) => deployment.is_current) ?? null }
}
