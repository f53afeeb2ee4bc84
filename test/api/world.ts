import { expect } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { Account, User } from '../../server/contract/instance.ts'
import { startTestPlatform } from '../support/platform.ts'
import type { TestPlatform } from '../support/platform.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'
import type { Repository } from '../support/repository.ts'

/**
 * A started platform with people in it: `owner` of the instance, `member` of the owner's team, `stranger` with an account of
 * their own, `gone` who was removed, `nobody` without sign-in.
 */
export type Who = 'owner' | 'member' | 'stranger' | 'gone' | 'nobody'

export interface Answer {
  status: number
  headers: Headers
  text: string
  body: Record<string, unknown>
}

export interface World {
  home: TestPlatform
  tokens: Record<Who, string | null>
  repository: Repository
  ask(who: Who | { token: string }, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Adds a person and returns their token. */
  add(email: string, more?: { plan?: string; verified?: boolean; card?: boolean }): Promise<{ token: string; user: User; account: Account }>
  close(): Promise<void>
}

export async function startWorld(): Promise<World> {
  const home = await startTestPlatform({ runtime: 'process' })
  const repository = makeRepository(tinyServer('one'))
  const tokens: World['tokens'] = { owner: home.platform.instance.token, member: null, stranger: null, gone: null, nobody: null }

  const ask: World['ask'] = async (who, method, path, body, headers = {}) => {
    const token = typeof who === 'string' ? tokens[who] : who.token
    const init: RequestInit = {
      method,
      redirect: 'manual',
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    }
    if (body !== undefined) init.body = typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await fetch(home.platform.api_url + path, init)
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false
    return { status: answer.status, headers: answer.headers, text, body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {} }
  }
  const add: World['add'] = async (email, more = {}) => {
    const answer = await ask('owner', 'POST', '/instance/users', { email, ...more })
    expect(answer.status).toBe(201)
    return answer.body as { token: string; user: User; account: Account }
  }

  await ask('owner', 'PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000, rate_limit_anonymous: 1_000_000 })
  tokens.member = (await add('member@example.com')).token
  tokens.stranger = (await add('stranger@example.com')).token
  tokens.gone = (await add('gone@example.com')).token
  await ask('owner', 'DELETE', '/instance/users/gone%40example.com')
  await ask('owner', 'POST', '/instance/team', { owner_email: await ownerEmail(ask), member_email: 'member@example.com' })

  return {
    home,
    tokens,
    repository,
    ask,
    add,
    async close() {
      await home.remove()
      repository.remove()
    },
  }
}

async function ownerEmail(ask: World['ask']): Promise<string> {
  return ((await ask('owner', 'GET', '/instance/session')).body.user as User).email
}

/**
 * How long something takes, in seconds of a clock that stands still while this process does: the platform is in it, and what it does
 * by its own timers is not late because the machine stalls.
 */
export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  let ticks = 0
  const ticking = setInterval(() => ticks++, 100)
  try {
    await work()
  } finally {
    clearInterval(ticking)
  }
  return ticks / 10
}

export function expectRefusal(answer: Answer, status: number, error: string): void {
  expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error })
  expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'))
  expect(String(answer.body.message)).toMatch(/\w+ .*[.:)]?/)
}

/** The paths of the fields that a refusal finds fault with. */
export const faults = (answer: Answer) => [...new Set(((answer.body.issues ?? []) as { path: string }[]).map(({ path }) => path))].toSorted()

/** A production deployment of a fresh project of the owner, on its way. */
export async function deployed(world: World, slug: string): Promise<Deployment> {
  await world.home.createProject({ slug, repo_url: world.repository.url })
  return world.home.deploy(slug)
}
