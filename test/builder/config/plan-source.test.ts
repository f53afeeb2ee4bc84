import { expect, test } from 'vitest'
import { planSource } from '../../../server/builder/index.ts'
import type { DockerfilePlan } from '../../../server/contract/build-plan.ts'
import { useSource } from './read-source.ts'

const createSource = useSource()
const settings = { node_version: 'auto', install_command: 'auto', build_command: 'auto', root_directory: '.' }

async function planDockerfile(files: Record<string, string>): Promise<DockerfilePlan> {
  const [build] = (await planSource({ folder: await createSource(files), settings })).builds
  const work = build?.plan.work
  if (work?.kind !== 'dockerfile') throw new Error(`planned as ${work?.kind}`)
  return work
}

const compose = (build: string, volume: string) => `services: { web: { build: ${build}, ports: [80], volumes: ["${volume}:ro"] } }`

test('the Dockerfile of a built service copies the files that it mounts', async () => {
  const work = await planDockerfile({
    'compose.yaml': compose('./api', './api/a.conf:/etc/a.conf'),
    'api/Dockerfile': 'FROM x\nUSER app\n',
    'api/a.conf': '',
  })
  expect(work).toMatchObject({ context_directory: 'api', dockerfile: 'api/Dockerfile', target: null })
  expect(work.text).toBe('FROM x\nUSER app\nCOPY ["a.conf","/etc/a.conf"]\n')
})

test('with a target, they are copied in an added stage after it', async () => {
  const work = await planDockerfile({
    'compose.yaml': compose('{ context: ., target: prod }', './a.conf:/a'),
    Dockerfile: 'FROM x AS prod\nFROM y',
    'a.conf': '',
  })
  expect(work).toMatchObject({ target: 'homeport-files', text: 'FROM x AS prod\nFROM y\nFROM prod AS homeport-files\nCOPY ["a.conf","/a"]\n' })
})

test('files outside of the build are added to its image, not to its context', async () => {
  const work = await planDockerfile({
    'compose.yaml': compose('./api', './db/a.conf:/a'),
    'api/Dockerfile': 'FROM x\n',
    'db/a.conf': '',
  })
  expect(work).toMatchObject({ context_directory: 'api', text: null, added_files: [{ source: 'db/a.conf', path: '/a' }] })
})

test('a file mounted into an app without a Dockerfile is refused with the reason', async () => {
  const files = { 'compose.yaml': compose('.', './a.conf:/a'), 'package.json': '{ "scripts": { "start": "node a.js" } }', 'a.conf': '' }
  await expect(planDockerfile(files)).rejects.toThrow(/The service “web” mounts a\.conf, which its build cannot copy/)
})
