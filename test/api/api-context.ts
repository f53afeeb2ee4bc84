import { expect } from 'vitest'
import type { Deployment } from '../../server/contract/deployments.ts'
import { makeRepository, tinyServer, type Repository } from '../support/repository.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

/**
 * A new account on the shared platform, with people in and around it: `owner` of the account, `member` of its team, `stranger` with
 * another account, `gone` who was removed, `nobody` without sign-in; and the owner of the whole instance.
 */
export type Caller = 'owner' | 'member' | 'stranger' | 'gone' | 'anonymous' | 'instance_owner'

export interface ApiResponse {
  status: number
  headers: Headers
  text: string
  body: Record<string, unknown>
}

export interface ApiContext {
  platform: SharedPlatform
  tokens: Record<Caller, string | null>
  repository: Repository
  /** `home.createProject` creates projects with this repository, because only the instance owner may link a local folder. */
  request(who: Caller | { token: string }, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>
  addPerson: SharedPlatform['addPerson']
  close(): Promise<void>
}

/** `settings`: of the shared platform. */
export async function createApiContext(settings?: Parameters<typeof sharedPlatform>[0]): Promise<ApiContext> {
  const platform = await sharedPlatform(settings)
  const repository = makeRepository(tinyServer('one'))
  const add = platform.addPerson
  const tokens: ApiContext['tokens'] = {
    owner: platform.owner.token,
    member: (await add('member@example.com')).token,
    stranger: (await add('stranger@example.com')).token,
    gone: (await add('gone@example.com')).token,
    anonymous: null,
    instance_owner: platform.owner.token,
  }
  await platform.api('DELETE', '/instance/users/gone%40example.com')
  await platform.api('POST', '/instance/team', { owner_email: platform.owner.user.email, member_email: 'member@example.com' })

  const ask: ApiContext['request'] = async (who, method, path, body, headers = {}) => {
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
    const response = await fetch(platform.handle.api_url + path, init)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
    return { status: response.status, headers: response.headers, text, body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {} }
  }
  return {
    platform,
    tokens,
    repository,
    request: ask,
    addPerson: add,
    async close() {
      await platform.remove()
      repository.remove()
    },
  }
}

export function expectError(response: ApiResponse, status: number, error: string): void {
  expect({ status: response.status, error: response.body.error }).toEqual({ status, error })
  expect(response.body.request_id).toBe(response.headers.get('x-request-id'))
  expect(String(response.body.message)).toMatch(/\w+ .*[.:)]?/)
}

/** The paths of the fields that an error names. */
export const issuePaths = (response: ApiResponse) =>
  [...new Set(((response.body.issues ?? []) as { path: string }[]).map(({ path }) => path))].toSorted()

/** A running production deployment of a new project of the owner. */
export async function startDeployment(context: ApiContext, slug: string): Promise<Deployment> {
  await context.platform.createProject({ slug, repo_url: context.repository.url })
  return context.platform.deploy(slug)
}
