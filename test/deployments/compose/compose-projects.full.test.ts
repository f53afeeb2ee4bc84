import { chmodSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readProjectConfig } from '../../../server/builder/index.ts'
import type { ProjectConfig } from '../../../server/contract/project-config.ts'
import type { Service } from '../../../server/contract/services.ts'
import { composeCases, rejectedComposeCases } from '../../builder/config/compose-cases.ts'
import { createDockerView, type DockerView, instanceIdOf } from '../../support/docker.ts'
import { until } from '../../support/platform.ts'
import { requires } from '../../support/requirements.ts'
import { runProgram } from '../../support/runtime.ts'
import { useDeploymentContext } from '../deployment-suite.ts'
import { composeProjects } from './compose-projects.ts'
import { createStandInDockerfile, createStandIns, removeStandIns, type StandIn } from './stand-in-images.ts'

const readFixture = (name: string) => readFile(join(import.meta.dirname, '../../builder/config/compose', `${name}.yaml`), 'utf8')

const databases: [RegExp, StandIn][] = [
  [/(^|\/)redis(:|$)/, { server: 'redis' }],
  [/(^|\/)(postgres|postgis)(:|$)/, { server: 'postgres' }],
  [/(^|\/)(mysql|mariadb)(:|$)/, { server: 'mariadb' }],
  [/(^|\/)mongo(:|$)/, { ports: [27017] }],
]

function findStandIn(name: string, image: string): StandIn {
  const found = composeProjects[name]?.images?.[image] ?? databases.find(([pattern]) => pattern.test(image))?.[1]
  if (!found) throw new Error(`${name}: nothing stands in for ${image}`)
  return found
}

async function createFiles(name: string): Promise<Record<string, string>> {
  const { files, builds } = composeProjects[name] ?? {}
  return {
    ...files,
    ...Object.fromEntries(Object.entries(builds ?? {}).map(([path, standIn]) => [path, createStandInDockerfile(`${name}/${path}`, standIn)])),
    'compose.yaml': await readFixture(name),
  }
}

/** Published compose files as projects: real databases and stand-ins for the rest, under the names that the files have. */
describe.skipIf(!requires('docker').ok || !requires('service-images').ok)('compose files of well-known projects, on Docker', () => {
  const context = useDeploymentContext('docker')
  const created: string[] = []
  const results = { run: 0, rejected: 0 }
  let view: DockerView
  beforeAll(async () => {
    const { body } = await context.platform.api<{ user: { id: string } }>('GET', '/instance/session')
    view = createDockerView(instanceIdOf(body.user.id))
  })
  afterAll(async () => {
    await removeStandIns(created)
    console.log(
      `${results.run} of ${composeCases.length} compose files run, ${results.rejected} of ${rejectedComposeCases.length} are rejected with lines`,
    )
  })

  const createProject = async (slug: string, files: Record<string, string>, variables: Record<string, string> = {}) => {
    const repository = await context.projectWith(slug, files)
    for (const file of Object.keys(files)) if (file.endsWith('.sh')) chmodSync(join(repository.folder, file), 0o755)
    repository.commit({})
    for (const [key, value] of Object.entries(variables)) {
      const { status } = await context.platform.api('POST', `/v1/projects/${slug}/env-vars`, { key, value })
      expect(status).toBeLessThan(300)
    }
    return repository
  }

  const deployReady = async (slug: string): Promise<void> => {
    const { error, build_log } = await context.deployAndWait(slug)
    expect(error, build_log).toBeNull()
  }

  const listContainers = async (slug: string): Promise<Map<string, Docker.ContainerInspectInfo>> => {
    const { id } = await context.platform.getProject(slug)
    const found = await view.docker.listContainers({ filters: { label: [`homeport.project=${id}`, 'homeport.service'] } })
    const details = await Promise.all(found.map(({ Id }) => view.docker.getContainer(Id).inspect()))
    // Containers of the previous version may still be stopping.
    const newestLast = details.toSorted((a, b) => a.Created.localeCompare(b.Created))
    return new Map(newestLast.map((one) => [one.Config.Labels['homeport.service'] ?? '', one]))
  }

  const listServices = async (slug: string): Promise<Service[]> =>
    (await context.platform.api<{ services: Service[] }>('GET', `/instance/projects/${slug}/services`)).body.services

  /** Every service of the file runs or has completed, and every address answers. */
  const checkServices = async (slug: string, { services }: ProjectConfig): Promise<void> => {
    await until(
      async () => {
        const statuses = await listServices(slug)
        expect(statuses.map(({ name }) => name).toSorted()).toEqual(services.map(({ name }) => name).toSorted())
        const waiting = statuses.filter(({ status }) => status !== 'running' && status !== 'completed').map(({ name, status }) => `${name} ${status}`)
        if (waiting.length > 0) throw new Error(waiting.join(', '))
        return true
      },
      { what: `the services of ${slug}` },
    )
    const statuses = await listServices(slug)
    for (const { name, url, restarts } of statuses) {
      expect([name, restarts]).toEqual([name, 0])
      if (url !== null) expect([name, (await context.platform.fetchEdge(new URL(url).hostname)).status]).toEqual([name, 200])
    }
    for (const { name, depends_on } of services)
      for (const { service, condition } of depends_on)
        if (condition === 'completed')
          expect([name, service, statuses.find((one) => one.name === service)?.status]).toEqual([name, service, 'completed'])
  }

  const checkOrder = (containers: Map<string, Docker.ContainerInspectInfo>, { services }: ProjectConfig): void => {
    for (const { name, depends_on } of services) {
      for (const { service } of depends_on) {
        const [first, second] = [containers.get(service), containers.get(name)].map((one) => one?.State.StartedAt)
        if (first !== undefined && second !== undefined) expect(first < second, `${service} starts before ${name}`).toBe(true)
      }
    }
  }

  /** The folders of volumes that a service may write to. */
  const listVolumes = (containers: Map<string, Docker.ContainerInspectInfo>) =>
    [...containers].flatMap(([service, { Id, Mounts }]) =>
      Mounts.flatMap(({ Type, RW, Name, Destination }) =>
        Type === 'volume' && RW && Name?.includes('homeport') ? [{ service, Id, Name, Destination }] : [],
      ),
    )

  test.each(composeCases)('runs: $name', async ({ name, files: needed }) => {
    const files = await createFiles(name)
    expect(Object.keys(files)).toEqual(expect.arrayContaining(needed ?? []))
    const slug = `compose-${name}`
    const repository = await createProject(slug, files, composeProjects[name]?.variables)
    const config = await readProjectConfig(repository.folder)
    const images = config.services.flatMap(({ source }) => (source.kind === 'image' ? [source.image] : []))
    created.push(...(await createStandIns(Object.fromEntries(images.map((image) => [image, findStandIn(name, image)])))))

    await deployReady(slug)
    await checkServices(slug, config)
    expect((await context.platform.fetchEdge(`${slug}.localhost`)).status).toBe(200)
    const containers = await listContainers(slug)
    checkOrder(containers, config)
    const volumes = listVolumes(containers)
    for (const { service, Id, Destination } of volumes) await runProgram('docker', ['exec', Id, 'sh', '-c', `echo ${service} >>${Destination}/kept`])

    repository.commit({ 'a-change': 'of the source\n' })
    await deployReady(slug)
    await checkServices(slug, config)
    expect((await context.platform.fetchEdge(`${slug}.localhost`)).status).toBe(200)
    const after = listVolumes(await listContainers(slug))
    expect(after.map(({ service, Name, Destination }) => `${service} ${Name} ${Destination}`).toSorted()).toEqual(
      volumes.map(({ service, Name, Destination }) => `${service} ${Name} ${Destination}`).toSorted(),
    )
    for (const { service, Id, Destination } of after)
      expect(await runProgram('docker', ['exec', Id, 'cat', `${Destination}/kept`])).toContain(service)

    await context.platform.api('DELETE', `/v1/projects/${slug}`)
    results.run++
  })

  test.each(rejectedComposeCases)('rejects: $name', async ({ name, problems }) => {
    const slug = `rejected-${name}`
    await createProject(slug, { 'compose.yaml': await readFixture(name) })
    const failed = await context.deployAndWait(slug)
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'detect_failed' } })
    for (const problem of problems) {
      const [, line, text] = /^(\d+): (.*)$/.exec(problem) ?? []
      expect(failed.build_log.toLowerCase()).toContain(`line ${line}: ${text}`.toLowerCase())
    }
    await context.platform.api('DELETE', `/v1/projects/${slug}`)
    results.rejected++
  })
})
