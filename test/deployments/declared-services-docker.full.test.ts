import { describe, expect, test } from 'vitest'
import type { ManagedService } from '../../server/contract/managed-services.ts'
import { commitToBranch, checkRepository, waitForPreview } from '../support/git-branches.ts'
import { requires } from '../support/requirements.ts'
import { runProgram } from '../support/runtime.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { printsVariables } from './declared-services-suite.ts'

describe.skipIf(!requires('docker').ok || !requires('service-images').ok)('managed services of homeport.yaml on Docker', () => {
  const context = useDeploymentContext('docker')
  const variables = async (host: string) => JSON.parse((await context.platform.fetchEdge(host)).body) as Record<string, string | undefined>
  const listAdded = async (slug: string) =>
    (await context.platform.api<{ services: ManagedService[] }>('GET', `/instance/projects/${slug}/managed-services`)).body.services
      .filter(({ is_added }) => is_added)
      .map(({ name }) => name)
  const listContainers = async (slug: string, service: string) => {
    const { id } = await context.platform.getProject(slug)
    const filters = ['--filter', `label=homeport.service=${service}`, '--filter', `label=homeport.project=${id}`]
    return (await runProgram('docker', ['ps', '-q', ...filters])).split('\n').filter((line) => line !== '').length
  }

  test('the first deployment adds them, its release command reaches them, and a line that goes keeps them', async () => {
    const release = `node -e "require('net').connect(process.env.REDIS_PORT, process.env.REDIS_HOST).on('connect', () => { console.log('reached redis'); process.exit(0) })"`
    const repository = await context.projectWith('brought', {
      ...printsVariables,
      'homeport.yaml': `managed: [redis, s3]\nrelease: ${JSON.stringify(release)}\n`,
    })
    const deployed = await context.deployReady('brought')
    expect(deployed.build_log).toContain('Added Redis to the project, because homeport.yaml lists redis under managed.')
    expect(deployed.build_log).toContain('reached redis')
    const first = await variables('brought.localhost')
    expect(first).toMatchObject({ REDIS_HOST: 'redis', S3_ENDPOINT: 'http://s3:7070' })
    expect(first.S3_PUBLIC_ENDPOINT).toMatch(/^http:\/\/s3--brought\.localhost:/)
    expect(deployed.build_log).not.toContain(first.REDIS_PASSWORD)
    expect(await listAdded('brought')).toEqual(['redis', 's3'])

    repository.commit({ 'homeport.yaml': 'managed: [s3]\n' })
    const second = await context.deployReady('brought')
    expect(second.build_log).toContain(
      'The project has redis, which homeport.yaml does not list under managed. It is kept. Remove it with homeport services brought remove redis',
    )
    expect((await variables('brought.localhost')).REDIS_PASSWORD).toBe(first.REDIS_PASSWORD)
    expect(await listAdded('brought')).toEqual(['redis', 's3'])
  })

  test('a preview has one of its own, and production none until its own file lists it', async () => {
    const repository = context.createRepository({ ...printsVariables, 'homeport.yaml': 'managed: []\n' })
    await context.platform.createProject({ slug: 'branched', repo_url: repository.url })
    await context.deployReady('branched')
    await checkRepository(context.platform, 'branched')
    const sha = commitToBranch(repository.folder, 'cache', { 'homeport.yaml': 'managed: [redis, postgres]\n' })
    await checkRepository(context.platform, 'branched')
    const { host } = await waitForPreview(context.platform, 'branched', 'cache', sha)
    const preview = await variables(host)
    expect(preview).toMatchObject({ REDIS_HOST: 'redis' })
    expect(preview.DATABASE_URL).toBeUndefined()
    expect(await listContainers('branched', 'redis')).toBe(1)
    expect(await listAdded('branched')).toEqual([])
    expect((await context.platform.api('GET', '/v1/projects/branched/database')).status).toBe(404)

    // Production is deployed again: nothing of the branch is in it.
    await context.deployReady('branched')
    expect((await variables('branched.localhost')).REDIS_URL).toBeUndefined()
    repository.commit({ 'homeport.yaml': 'managed: [redis]\n' })
    await context.deployReady('branched')
    const production = await variables('branched.localhost')
    expect(production.REDIS_PASSWORD).toHaveLength(43)
    expect(production.REDIS_PASSWORD).not.toBe(preview.REDIS_PASSWORD)
    expect(await listContainers('branched', 'redis')).toBe(2)
  })

  test('a service of another file with the same name is refused before anything is built', async () => {
    await context.projectWith('twice-named', {
      ...printsVariables,
      'homeport.yaml': 'managed: [redis]\nservices:\n  web: { build: . }\n  redis: { image: "redis:7-bookworm" }\n',
    })
    expect(await context.deployAndWait('twice-named')).toMatchObject({
      status: 'failed',
      error: { code: 'detect_failed', message: expect.stringContaining('managed: redis is also the name of a service of this file.') },
    })
    expect(await listAdded('twice-named')).toEqual([])
  })
})
