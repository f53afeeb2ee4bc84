import type { Account, User } from '../../server/contract/instance.ts'
import type { Project } from '../../server/contract/projects.ts'
import { startTestPlatform, type TestPlatform } from './platform.ts'
import type { PlatformSettings } from './platform-process.ts'

/** A shared platform. `api`, `createProject` and the other calls act as its owner, whose account is the only one that deploys processes. */
export interface SharedPlatform extends TestPlatform {
  owner: Person
  /** Adds a user with a separate account, which is removed when the file is done with the platform. */
  addPerson(email: string, more?: { plan?: string; verified?: boolean; card?: boolean }): Promise<Person>
  /** Removes users, projects and tokens. The platform keeps running. */
  remove(): Promise<void>
}

export interface Person {
  token: string
  user: User
  account: Account
}

type SharedSettings = Omit<PlatformSettings, 'data_dir'> & { rate_limited?: boolean }

/** Stored on the process and not in this module, so that a runner that reloads modules for every file finds the same platforms. */
const registry = globalThis as { homeportSharedPlatforms?: Map<string, Promise<TestPlatform>> }

/**
 * A platform that all test files of this worker share, one after the other, with one platform per combination of settings. It stops and removes its
 * data when the worker ends, even if the run is interrupted. A test that stops the platform, advances its clock by more than a few days, or leaves
 * instance settings changed must use `startTestPlatform`.
 */
export async function sharedPlatform(settings: SharedSettings = { runtime: 'process' }): Promise<SharedPlatform> {
  const platforms = (registry.homeportSharedPlatforms ??= new Map())
  const key = JSON.stringify(settings)
  const starting = platforms.get(key) ?? startTestPlatform(settings)
  platforms.set(key, starting)
  const platform: TestPlatform = await starting
  const { token } = platform.handle.instance
  const { body: session } = await platform.api<Omit<Person, 'token'>>('GET', '/instance/session')
  const people = new Set<string>()
  const rejectOnShared = () => Promise.reject(new Error('This platform is shared. Start one of your own with startTestPlatform.'))

  return {
    ...platform,
    handle: { ...platform.handle, stop: rejectOnShared },
    kill: rejectOnShared,
    get log() {
      return platform.log
    },
    owner: { token, user: session.user, account: session.account },
    async addPerson(email, more = {}) {
      const { status, body } = await platform.api<Person>('POST', '/instance/users', { email, ...more })
      if (status !== 201) throw new Error(`adding ${email} answered ${status}: ${JSON.stringify(body)}`)
      people.add(body.user.email)
      return body
    },
    async remove() {
      for (const email of people) {
        const { status, body } = await platform.api('DELETE', `/instance/users/${encodeURIComponent(email)}`)
        if (status >= 400 && status !== 404) throw new Error(`removing ${email} answered ${status}: ${JSON.stringify(body)}`)
      }
      const { projects } = (await platform.api<{ projects: Project[] }>('GET', '/v1/projects?limit=100')).body
      for (const { slug } of projects) await platform.api('DELETE', `/v1/projects/${slug}`)
      const { api_tokens } = (await platform.api<{ api_tokens: { id: string }[] }>('GET', '/v1/tokens?limit=100')).body
      for (const { id } of api_tokens) await platform.api('DELETE', `/v1/tokens/${id}`)
    },
  }
}
