import { expect } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'
import type { Repository } from '../support/repository.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

/**
 * A new account on the shared platform, with people in and around it: `owner` of the account, `member` of its team, `stranger` with
 * another account, `gone` who was removed, `nobody` without sign-in; and the owner of the whole instance.
 */
export type Who = 'owner' | 'member' | 'stranger' | 'gone' | 'nobody' | 'instance_owner'

export interface Answer {
  status: number
  headers: Headers
  text: string
  body: Record<string, unknown>
}

export interface World {
  home: SharedPlatform
  tokens: Record<Who, string | null>
  repository: Repository
  /** Projects with this repository are made by `home.createProject`: a folder is linked by the owner of the instance alone. */
  ask(who: Who | { token: string }, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  add: SharedPlatform['addPerson']
  close(): Promise<void>
}

export async function startWorld(): Promise<World> {
  const home = await sharedPlatform()
  const repository = makeRepository(tinyServer('one'))
  const add = home.addPerson
  const tokens: World['tokens'] = {
    owner: home.owner.token,
    member: (await add('member@example.com')).token,
    stranger: (await add('stranger@example.com')).token,
    gone: (await add('gone@example.com')).token,
    nobody: null,
    instance_owner: home.owner.token,
  }
  await home.api('DELETE', '/instance/users/gone%40example.com')
  await home.api('POST', '/instance/team', { owner_email: home.owner.user.email, member_email: 'member@example.com' })

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
