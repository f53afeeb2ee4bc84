/**
 * server/SECURITY.md, T8: variables, database passwords, git credentials and tokens are in no output, in no encoding, while
 * a platform in its own process does everything that it can. Each secret has one endpoint that returns it, which is excluded.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DeploymentDetail } from '../../server/contract/deployments.ts'
import { newId } from '../../server/lib/id.ts'
import { type GitServer, startGitServer } from '../support/git-server.ts'
import { fetchFromEdge, createTempFolder, type RunningInstance, startInstance } from '../support/instance-process.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { chromiumPath, dockerSocket } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { isFullTier } from '../support/tier.ts'
import { encodingsOf } from './secret-encodings.ts'
import { captureSecrets } from './secrets-capture.ts'
import { readAsAgent } from './secrets-agent.ts'
import { watchProcesses } from './secrets-processes.ts'
import { plainReads } from './secrets-reads.ts'
import { readSecretSpan } from './secrets-traces.ts'
import { tellingApp } from './secrets-app.ts'
import { addNotificationSecrets, readNotifications } from './secrets-notifications.ts'

/** A browser is started for each version, which takes longer than everything else; by default `screenshots/` shows what it is given. */
const browser = isFullTier ? chromiumPath : undefined

const createSecret = (name: string) => `HPSENT_${name}/+ ${newId('evt')}"é%`

export function secretLeakSuite(runtime: 'process' | 'docker'): void {
  describe(`on ${runtime}`, () => {
    const secrets = new Map([
      ['variable', createSecret('variable')],
      ['preview variable', createSecret('preview')],
      ['git credential', `HPSENT-git-${newId('evt')}/+`],
    ])
    /** The outputs, by name. */
    const sinks = new Map<string, string>()
    const recordSink = (sink: string, text: string) => sinks.set(sink, `${sinks.get(sink) ?? ''}${text}\n`)
    // Short, because a browser has a socket below its temporary folder, and the path of a socket has at most 107 characters.
    const folder = createTempFolder('secrets')
    const dataFolder = join(folder.path, 'data')
    const tempFolder = join(folder.path, 'tmp')
    const streams = new AbortController()
    let instance: RunningInstance
    let host: GitServer
    let repository: Repository
    let projectId = ''

    const ownTokens: string[] = []
    const start = async () => {
      const running = await startInstance({
        data: dataFolder,
        args: ['--port', '0', '--edge-port', '0', '--runtime', runtime],
        env: { HOMEPORT_CHROMIUM: browser ?? 'off', TMPDIR: tempFolder },
      })
      ownTokens.push(running.instance.token)
      return running
    }

    /** Sends a request and records the response, unless the endpoint returns the secret by design. */
    const ask = async <Body = Record<string, unknown>>(
      method: string,
      path: string,
      body?: unknown,
      more: { isHandout?: boolean; token?: string } = {},
    ): Promise<{ status: number; body: Body }> => {
      const response = await instance.fetch(path, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(more.token === undefined ? {} : { 'x-purge-token': more.token }),
        },
      })
      const bytes = Buffer.from(await response.arrayBuffer())
      const text = (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('latin1')
      if (!more.isHandout) recordSink('the answers', `${method} ${JSON.stringify([...response.headers])} ${text}`)
      return { status: response.status, body: (/^\s*[{[]/.test(text) ? JSON.parse(bytes.toString()) : {}) as Body }
    }

    const follow = (sink: string, path: string): void => {
      const read = async () => {
        const response = await instance.fetch(path, { signal: streams.signal })
        const decoder = new TextDecoder()
        for await (const chunk of response.body ?? []) recordSink(sink, decoder.decode(chunk, { stream: true }))
      }
      // Ends with the platform, or with the test.
      read().catch(() => {})
    }

    const ended = async (id: string): Promise<DeploymentDetail> => {
      follow('the build streams', `/v1/projects/teller/deployments/${id}/logs`)
      return until(
        async () => {
          const { body } = await ask<{ deployment: DeploymentDetail }>('GET', `/v1/projects/teller/deployments/${id}`)
          return ['ready', 'failed', 'canceled'].includes(body.deployment.status) ? body.deployment : undefined
        },
        { what: `the end of ${id}`, every_ms: 200 },
      )
    }
    const deploy = async (action = 'deploy'): Promise<DeploymentDetail> => {
      const { status, body } = await ask<{ deployment_id: string }>('POST', `/v1/projects/teller/${action}`)
      expect(status, JSON.stringify(body)).toBe(201)
      return ended(body.deployment_id)
    }

    /** The part of each secret that no encoding changes, and that is unique, because other suites use secrets at the same time. */
    const secretMarks = (): string[] => [...secrets.values(), ...ownTokens].map((secret) => /evt_\w+/.exec(secret)?.[0] ?? secret)

    let seen: ReturnType<typeof watchProcesses>

    const repositoryUrl = () => {
      const address = new URL(host.url(`${basename(repository.folder)}/.git`))
      address.username = 'me'
      address.password = secrets.get('git credential')!
      return address
    }

    beforeAll(async () => {
      seen = watchProcesses(secretMarks)
      mkdirSync(tempFolder)
      instance = await start()
      repository = makeRepository({ ...tellingApp, 'fail-build': 'x' })
      host = await startGitServer({ root: dirname(repository.folder), credentials: { username: 'me', password: secrets.get('git credential')! } })
      await ask('PATCH', '/instance/settings', { rate_limit_authenticated: 1_000_000, rate_limit_anonymous: 1_000_000 })
      follow('the instance’s events', '/instance/events')

      const made = await ask<{ project: { id: string } }>('POST', '/v1/projects', { name: 'Teller', slug: 'teller', repo_url: repositoryUrl().href })
      projectId = made.body.project.id
      follow('the runtime log', '/v1/projects/teller/runtime-logs')
      follow('the runtime log', '/v1/projects/teller/runtime-logs?format=json&lines=1000')
      const vars = [
        { key: 'SECRET', value: secrets.get('variable'), environment: 'production', is_sensitive: true },
        { key: 'SECRET', value: secrets.get('preview variable'), environment: 'preview' },
      ]
      expect((await ask('POST', '/v1/projects/teller/env-vars', { vars })).status).toBe(201)
      await ask('POST', '/v1/projects/teller/env-vars', { vars })
      await ask('POST', '/v1/projects/teller/env-vars', { key: 'A B', value: secrets.get('variable') })
      await ask('POST', '/v1/projects/teller/env-vars', { key: 'OTHER', value: 1, [secrets.get('variable')!]: 1 }, { isHandout: true })

      const database = await ask<{ database: { password: string } }>('POST', '/v1/projects/teller/database', undefined, { isHandout: true })
      expect(database.status, JSON.stringify(database.body)).toBe(201)
      secrets.set('database password', database.body.database.password)
      const person = await ask<{ token: string }>('POST', '/instance/users', { email: 'friend@example.com' }, { isHandout: true })
      secrets.set('token', person.body.token)
      const registry = { host: 'registry.example.com', username: 'me', password: createSecret('registry') }
      expect((await ask('POST', '/instance/projects/teller/registries', registry)).status).toBe(200)
      await ask('POST', '/instance/projects/teller/registries', { ...registry, host: 'not a host' })
      secrets.set('registry password', registry.password)
      const purge = await ask<{ token: string }>('POST', '/v1/projects/teller/cache/token', undefined, { isHandout: true })
      secrets.set('purge token', purge.body.token)
      await addNotificationSecrets(ask, secrets)
    })

    test('it deploys: failing builds and starts, a page with a screenshot, a retry, a rollback', async () => {
      expect((await deploy()).error?.code).toBe('build_failed')
      repository.commit({ 'fail-build': null, 'fail-start': 'x' })
      expect((await deploy()).error?.code).toBe('start_failed')
      repository.commit({ 'fail-start': null })
      const good = await deploy()
      expect(good.error, good.build_log).toBeNull()
      expect((await fetchFromEdge(instance.instance.edge_url, 'teller')).text).toBe(`<h1>${secrets.get('variable')!.length}</h1>`)
      await fetchFromEdge(instance.instance.edge_url, 'teller', '/shout')
      if (browser)
        await until(async () => (await ask('GET', `/v1/projects/teller/deployments/${good.id}/screenshot/mobile.png`)).status === 200 || undefined, {
          what: 'a screenshot',
        })
      if (isFullTier) expect((await deploy(`deployments/${good.id}/retry`)).error).toBeNull()
      expect((await deploy(`deployments/${good.id}/rollback`)).error).toBeNull()
    })

    test('it receives tokens where they belong, and where users put them by mistake', async () => {
      const token = secrets.get('purge token')!
      const friend = secrets.get('token')!
      await ask('POST', '/hooks/cache/teller', undefined, { token })
      await ask('POST', `/hooks/cache/teller?token=${token}`)
      await ended((await ask<{ deployment_id: string }>('POST', `/hooks/deploy/${secrets.get('deploy hook')!}`)).body.deployment_id)
      await readNotifications(ask, secrets)
      await ask('POST', '/hooks/cache/teller', { urls: [`/?key=${friend}x`] }, { token: `${token}x` })
      await ask('GET', `/v1/projects?token=${friend}&limit=0`)
      await ask('GET', `/v1/projects/${friend}`)
      await ask('GET', `/v1/nothing/${friend}`)
      await instance.fetch('/v1/projects', { headers: { 'x-token': friend, cookie: `homeport=${friend}` } })
      for (const path of ['/v1/projects', '/instance/session'])
        recordSink('the answers', await (await fetch(instance.instance.api_url + path, { headers: { authorization: `Bearer ${friend}` } })).text())
    })

    test('it makes a preview, a dump and a backup', async () => {
      repository.commit({ 'note.txt': 'for the preview' })
      execFileSync('git', ['branch', 'feature'], { cwd: repository.folder })
      await ask('POST', '/instance/projects/teller/watching/check')
      execFileSync('git', ['checkout', '--quiet', 'feature'], { cwd: repository.folder })
      repository.commit({ 'note.txt': 'changed' })
      execFileSync('git', ['checkout', '--quiet', 'main'], { cwd: repository.folder })
      await ask('POST', '/instance/projects/teller/watching/check')
      const preview = await until(
        async () =>
          (await ask<{ previews: { branch: string; deployment_id: string }[] }>('GET', '/v1/projects/teller/previews')).body.previews.find(
            (one) => one.branch === 'feature',
          ),
        { what: 'the preview' },
      )
      expect((await ended(preview.deployment_id)).error).toBeNull()

      const { body: dump } = await ask<{ dump: { id: string } }>('POST', '/instance/projects/teller/database/dumps')
      await ask('GET', `/instance/projects/teller/database/dumps/${dump.dump.id}`)
      const { body: taken } = await ask<{ backup: { name: string } }>('POST', '/instance/backups')
      await ask('GET', `/instance/backups/${taken.backup.name}`)
    })

    test('the git host refuses it, and it answers every read', async () => {
      const address = repositoryUrl()
      await ask('PATCH', '/v1/projects/teller', { repo_url: address.href.replace('me:', 'you:') })
      expect((await deploy()).error?.code).toBe('clone_failed')
      // A token in place of the user name, as git hosts issue them.
      await ask('PATCH', '/v1/projects/teller', {
        repo_url: `http://${encodeURIComponent(secrets.get('git credential')!)}@127.0.0.1:${host.port}/none.git`,
      })
      expect((await deploy()).error?.code).toBe('clone_failed')

      for (const path of plainReads) await ask('GET', path)
      for (const path of ['activity?limit=100', 'activity/inbox', 'projects/teller/activity?limit=100'])
        recordSink('the activity', JSON.stringify((await ask('GET', `/instance/${path}`)).body))
    })

    test('it receives a span that contains them everywhere', () => readSecretSpan(ask, () => sinks.get('the runtime log')))

    test('it captures requests that carry secrets, and replays them', () =>
      captureSecrets({ ask, edge_url: instance.instance.edge_url, slug: 'teller', secret: secrets.get('variable')! }))

    test('an agent reads everything that it can', async () => {
      const { body } = await ask<{ deployments: { id: string }[] }>('GET', '/v1/projects/teller/deployments')
      const variable = { key: 'SECRET', value: secrets.get('preview variable'), environment: 'preview' }
      const ids = body.deployments.map(({ id }) => id)
      recordSink('the tools of agents', await readAsAgent((path, init) => instance.fetch(path, init), 'teller', ids, variable))
    })

    test('it restarts and recovers its apps', async () => {
      const first = await instance.stop()
      recordSink('what it printed', first.out + first.err)
      instance = await start()
      await until(async () => (await fetchFromEdge(instance.instance.edge_url, 'teller')).status === 200 || undefined, {
        what: 'the app to be back',
      })
      follow('the runtime log', '/v1/projects/teller/runtime-logs?format=json&lines=1000')
      await until(() => sinks.get('the runtime log')?.includes('asked') || undefined, { what: 'the log' })
    })

    afterAll(async () => {
      seen.stop()
      streams.abort()
      await ask('DELETE', '/v1/projects/teller')
      await until(async () => (await instance.fetch('/instance/dumps')).ok || undefined, { what: 'an answer' })
      await instance.stop()
      await host.close()
      repository.remove()
      folder.remove()
    })

    const expectClean = (where: string, text: string, but: readonly string[] = []) => {
      const found = [...secrets].flatMap(([name, secret]) =>
        but.includes(name)
          ? []
          : encodingsOf(secret)
              .filter((one) => text.includes(one))
              .map((one) => `${name} as ${one} in ${where}: ${excerptAround(text, one)}`),
      )
      expect(found).toEqual([])
    }

    test('a secret in any encoding would be found', () => {
      for (const secret of secrets.values())
        for (const before of ['', 'a', 'ab'])
          for (const text of [
            before + secret,
            JSON.stringify({ secret }),
            `x=${encodeURIComponent(secret)}`,
            Buffer.from(`${before}${secret} and more`).toString('base64'),
            Buffer.from(`${before}${secret}`).toString('base64url'),
          ])
            expect(() => expectClean('a sink', text), text).toThrow()
    })

    test('the outputs were written to, with the secrets masked', () => {
      expect(sinks.get('the build streams')).toContain('plain ••••••')
      expect(sinks.get('the runtime log')).toContain('plain ••••••')
      expect(sinks.get('the tools of agents')).toContain('plain ••••••')
      expect(sinks.get('the activity')).toContain('env_vars.set')
      expect([...sinks.keys()].toSorted()).toEqual([
        'the activity',
        'the answers',
        'the build streams',
        'the instance’s events',
        'the runtime log',
        'the tools of agents',
        'what it printed',
      ])
      expect([...secrets.keys()]).toEqual([
        'variable',
        'preview variable',
        'git credential',
        'database password',
        'token',
        'registry password',
        'purge token',
        'Slack URL',
        'signing secret',
        'header of a log drain',
        'URL of a log drain',
        'signing secret of a log drain',
        'deploy hook',
      ])
    })

    test.for([
      'the activity',
      'the answers',
      'the build streams',
      'the runtime log',
      'the instance’s events',
      'the tools of agents',
      'what it printed',
    ])('not in %s', (sink) => expectClean(sink, sinks.get(sink) ?? ''))

    test('not in the arguments of any process, nor in the environment of databases and browsers', () => {
      expect([...seen.processes]).toEqual([])
      expect([...seen.surroundings]).toEqual([])
    })

    test('not in any file of the data folder or the temporary one, unpacked archives included', () => {
      for (const path of [...filesIn(dataFolder), ...filesIn(tempFolder)]) {
        const bytes = readFileSync(path)
        expectClean(path, bytes.toString('latin1'))
        if (bytes[0] === 0x1f && bytes[1] === 0x8b) expectClean(path, unpacked(bytes))
      }
    })

    if (runtime === 'docker')
      test('not in the history, the labels or a layer of any image; in a container only in the environment of the app itself', async () => {
        const docker = new Docker({ socketPath: dockerSocket })
        const images = await docker.listImages({ all: true, filters: { label: [`homeport.project=${projectId}`] } })
        expect(images.length).toBeGreaterThan(1)
        for (const { Id } of images) {
          expectClean('the history', JSON.stringify(await docker.getImage(Id).history()))
          expectClean('the description', JSON.stringify(await docker.getImage(Id).inspect()))
          const layers = execFileSync(
            'sh',
            ['-c', 'docker save "$0" | tar -xO | grep -ac -e HPSENT -e "$1" || true', Id, secrets.get('database password')!],
            { encoding: 'utf8' },
          )
          expect(layers.trim()).toBe('0')
        }
        for (const { Id } of await docker.listContainers({ all: true })) {
          const found = await docker
            .getContainer(Id)
            .inspect()
            .catch(() => undefined)
          if (!found) continue
          const isApp = found.Config.Labels['homeport.project'] === projectId
          if (isApp) found.Config.Env = []
          expectClean(`container ${found.Name}`, JSON.stringify(found))
        }
      })
  })
}

function unpacked(bytes: Buffer): string {
  try {
    return gunzipSync(bytes).toString('latin1')
  } catch {
    return ''
  }
}

const excerptAround = (text: string, found: string): string =>
  JSON.stringify(text.slice(Math.max(0, text.indexOf(found) - 120), text.indexOf(found) + 60))

/** npm itself and its cache, which are many files of others. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !/\/(toolchains|_cacache)\//.test(`${entry.parentPath}/`))
    .map((entry) => join(entry.parentPath, entry.name))
}
