import type { Account, User } from '../../server/contract/instance.ts'
import type { Project } from '../../server/contract/projects.ts'
import { type Client, createClient, type PlatformSettings, startTestPlatform, type TestPlatform } from './platform.ts'

/** A platform as a new account on it sees it: `api`, `createProject` and the other calls are those of the account's owner. */
export interface AccountPlatform extends TestPlatform {
  /** The owner of the instance, who is in the account's team because only that user may link a repository in a folder. */
  instanceOwner: Client & { token: string }
  owner: Person
  /** Adds a person with an account of their own, who goes with this one. */
  addPerson(email: string, more?: { plan?: string; verified?: boolean; card?: boolean }): Promise<Person>
  /** Removes the account with its people and projects. The platform goes on. */
  remove(): Promise<void>
}

export interface Person {
  token: string
  user: User
  account: Account
}

type Settings = Omit<PlatformSettings, 'data_dir'> & { rate_limited?: boolean }

/** Of this process and not of this module: a runner that loads modules anew for every file finds the same platforms. */
const registry = globalThis as { homeportSharedPlatforms?: Map<string, Promise<TestPlatform>> }
let count = 0

/**
 * A new account, on a platform that all test files of this worker share; one for each combination of settings. The platform ends and
 * removes its data when the worker ends, also when the run is interrupted. A test that stops the platform, moves its clock by more than
 * a few days, or leaves the settings of the instance changed starts a platform of its own with `startTestPlatform`.
 */
export async function sharedPlatform(settings: Settings = { runtime: 'process' }): Promise<AccountPlatform> {
  const platforms = (registry.homeportSharedPlatforms ??= new Map())
  const key = JSON.stringify(settings)
  const starting = platforms.get(key) ?? startTestPlatform(settings)
  platforms.set(key, starting)
  return createAccount(await starting)
}

export async function createAccount(home: TestPlatform): Promise<AccountPlatform> {
  const { instance } = home.platform
  const people = new Set<string>()

  const addPerson: AccountPlatform['addPerson'] = async (email, more = {}) => {
    const { status, body } = await home.api<Person>('POST', '/instance/users', { email, ...more })
    if (status !== 201) throw new Error(`adding ${email} answered ${status}: ${JSON.stringify(body)}`)
    people.add(body.user.email)
    return body
  }
  const email = `owner-${process.pid}-${++count}@example.com`
  const owner = await addPerson(email, { plan: 'enterprise' })
  const session = await home.api<{ user: User }>('GET', '/instance/session')
  await home.api('POST', '/instance/team', { owner_email: email, member_email: session.body.user.email })
  const client = createClient({ ...instance, token: owner.token })
  const refuse = () => Promise.reject(new Error('This platform is shared. Start one of your own with startTestPlatform.'))

  return {
    ...home,
    ...client,
    platform: { ...home.platform, instance: { ...instance, token: owner.token }, stop: refuse },
    kill: refuse,
    get log() {
      return home.log
    },
    instanceOwner: { ...createClient(instance), token: instance.token },
    owner,
    addPerson,
    async createProject({ repo_url, ...input }) {
      if (!repo_url?.startsWith('file:')) return client.createProject({ ...input, ...(repo_url === undefined ? {} : { repo_url }) })
      await client.createProject(input)
      const { status, body } = await home.api<{ project: Project }>('PATCH', `/v1/projects/${input.slug}`, { repo_url })
      if (status !== 200) throw new Error(`linking ${input.slug} answered ${status}: ${JSON.stringify(body)}`)
      return body.project
    },
    async remove() {
      for (const one of people) await home.api('DELETE', `/instance/users/${encodeURIComponent(one)}`)
      // What is deployed from a folder of this machine is the instance owner's.
      const { body } = await home.api<{ projects: Project[] }>('GET', '/v1/projects?limit=100')
      for (const { slug } of body.projects) await home.api('DELETE', `/v1/projects/${slug}`)
    },
  }
}
