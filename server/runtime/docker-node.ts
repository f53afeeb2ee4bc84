import { posix } from 'node:path'
import type Docker from 'dockerode'
import { sleep, systemClock } from '../lib/clock.ts'
import { stepFailure } from './build-failures.ts'
import { dependencyKey, type NodePlan } from './dependencies.ts'
import { within } from './docker-connect.ts'
import { packFolder } from './docker-context.ts'
import { readable, removeContainer, statusOf, type Engine } from './docker-engine.ts'
import { createOutput } from './docker-frames.ts'
import { baseImage, commit, commitServer, dropOldDependencies } from './docker-images.ts'
import { ranOutOfMemory } from './docker-memory.ts'
import { extractSite, isInContainer } from './docker-site.ts'
import {
  appRoot,
  buildProgram,
  environment,
  imageOwner,
  keptFolder,
  secretFiles,
  shell,
  toolFolder,
  toolSteps,
  type BuildOrder,
} from './docker-steps.ts'
import { raceAbort } from './signals.ts'
import { checkPaths } from './plan-paths.ts'
import type { Artifact, BuildRequest } from './runtime.ts'
import { planOfOutput } from './static-output.ts'

const maxProcesses = 512

/**
 * Builds Node and static plans in containers with limits for memory, processor and processes, and commits what came of it.
 * First a container with only what dependencies depend on, committed under the key of the dependencies; then one from that
 * with the source. Variables, certificates and registry settings come over standard input into memory: no layer has them.
 */
export async function buildNode(engine: Engine, request: BuildRequest, plan: NodePlan): Promise<Artifact> {
  const { docker } = await engine.connection()
  const { log, signal } = request
  await checkPaths(request.folder, plan)
  const base = await baseImage(docker, plan.node_version, (line) => log.note('install', line), signal)
  let from = base
  let sourceIsThere = false

  if (plan.install_command === null) {
    log.skip('install')
  } else {
    log.step('install')
    const key = await dependencyKey(request.folder, plan, request.project_id, request.variables)
    const made = await installed(engine, docker, request, plan, plan.install_command, base, key)
    from = made.image
    sourceIsThere = !made.shared
  }
  try {
    if (plan.build_command === null) log.skip('build')
    else log.step('build')
    return await withBuildContainer(engine, docker, request, from, (container) => buildIn(container))
  } finally {
    // Dependencies that may not be shared belong to this image alone; as its parent they stay as long as it does.
    if (sourceIsThere)
      await docker
        .getImage(from)
        .remove({ noprune: true })
        .catch(() => {})
  }

  async function buildIn(container: Docker.Container): Promise<Artifact> {
    if (!sourceIsThere) await upload(container, request, plan)
    if (plan.build_command !== null) {
      const steps = from === base ? toolSteps(plan) : []
      await carryOut(engine, container, request, 'build', plan.build_command, {
        files: await secretFiles(engine),
        kept: plan.cache_directories.map((folder) => ({
          from: posix.join(keptFolder, encodeURIComponent(folder)),
          to: posix.join(appRoot, plan.app_directory, folder),
        })),
        steps: [
          ...steps.map((step) => ({ ...step, env: environment(engine, request, plan, 'install') })),
          shell(plan.build_command, posix.join(appRoot, plan.app_directory), environment(engine, request, plan, 'build')),
        ],
      })
    }
    const built = await planOfOutput(
      plan,
      (path) => isInContainer(container, path),
      (line) => request.log.note('build', line),
    )
    if (built.kind === 'static') return await extractSite(engine, container, request, built)
    return commitServer(engine, docker, container, request, built)
  }
}

/** Makes a container, hands it to `work`, and removes it: at once when the work failed or was aborted, else behind the answer's back. */
async function withBuildContainer<T>(
  engine: Engine,
  docker: Docker,
  request: BuildRequest,
  image: string,
  work: (container: Docker.Container) => Promise<T>,
): Promise<T> {
  const { signal } = request
  const container = await createBuildContainer(engine, docker, request, image)
  const abort = () => void removeContainer(container).catch(() => {})
  signal.addEventListener('abort', abort, { once: true })
  let isDone = false
  try {
    signal.throwIfAborted()
    await engine.joinDatabase(container, request.project_id)
    const result = await work(container)
    isDone = true
    return result
  } finally {
    signal.removeEventListener('abort', abort)
    const removal = removeContainer(container)
    if (isDone) engine.background(removal)
    else await removal
  }
}

const installing = new Map<string, Promise<string>>()

/** The image with the dependencies; parallel builds with one key wait for the first. */
async function installed(
  engine: Engine,
  docker: Docker,
  request: BuildRequest,
  plan: NodePlan,
  command: string,
  base: string,
  key: string | null,
): Promise<{ image: string; shared: boolean }> {
  if (key === null) return { image: await install(engine, docker, request, plan, command, base, null), shared: false }
  const name = `${engine.imageName(request.project_id, 'dependencies').split(':')[0]}:dependencies-${key}`
  for (;;) {
    const running = installing.get(name)
    if (running) {
      request.log.note('install', 'Another build installs the same dependencies; waiting for it.')
      await raceAbort(
        running.catch(() => {}),
        request.signal,
      )
      continue
    }
    const found = await docker
      .getImage(name)
      .inspect()
      .then(
        (image) => image.Id,
        (error: unknown) => (statusOf(error) === 404 ? undefined : Promise.reject(error)),
      )
    if (found) {
      request.log.note('install', 'Dependencies come from the cache: what they depend on has not changed.')
      return { image: name, shared: true }
    }
    if (installing.has(name)) continue
    const job = install(engine, docker, request, plan, command, base, name).finally(() => installing.delete(name))
    installing.set(name, job)
    await job
    await dropOldDependencies(engine, docker, request.project_id, name)
    return { image: name, shared: true }
  }
}

async function install(
  engine: Engine,
  docker: Docker,
  request: BuildRequest,
  plan: NodePlan,
  command: string,
  base: string,
  name: string | null,
): Promise<string> {
  return withBuildContainer(engine, docker, request, base, async (container) => {
    await upload(container, request, plan, name === null ? undefined : plan.install_inputs)
    const env = environment(engine, request, plan, 'install')
    await carryOut(engine, container, request, 'install', command, {
      files: await secretFiles(engine),
      kept: [],
      steps: [...toolSteps(plan).map((step) => ({ ...step, env })), shell(command, posix.join(appRoot, plan.install_directory), env)],
    })
    // The container's labels come along: those of a shared set must not name the deployment that happened to make it.
    const labels = engine.labels('dependencies', { project_id: request.project_id, deployment_id: name === null ? request.deployment_id : '' })
    return commit(container, name, { Labels: labels })
  })
}

async function createBuildContainer(engine: Engine, docker: Docker, request: BuildRequest, image: string): Promise<Docker.Container> {
  request.signal.throwIfAborted()
  const bytes = request.memory_mb * 1024 * 1024
  const volume = engine.name(request.project_id, 'cache')
  return docker.createContainer({
    Image: image,
    name: engine.name('build', request.deployment_id, Math.random().toString(36).slice(2, 8)),
    User: `${imageOwner}:${imageOwner}`,
    Cmd: ['node', '-e', buildProgram],
    Entrypoint: [],
    WorkingDir: '/',
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Labels: engine.labels('build', { project_id: request.project_id, deployment_id: request.deployment_id }),
    HostConfig: {
      Memory: bytes,
      MemorySwap: bytes,
      NanoCpus: Math.round(request.cpus * 1e9),
      PidsLimit: maxProcesses,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Init: true,
      NetworkMode: await engine.network(),
      // Named by us. Docker fills a new volume from the image's folder, so that it belongs to the user node.
      Mounts: [
        {
          Type: 'volume',
          Source: volume,
          Target: '/home/node',
          VolumeOptions: {
            NoCopy: false,
            Labels: engine.labels('cache', { project_id: request.project_id }),
            DriverConfig: { Name: 'local', Options: {} },
          },
        },
      ],
      LogConfig: { Type: 'none', Config: {} },
    },
  })
}

async function upload(container: Docker.Container, request: BuildRequest, plan: NodePlan, only?: string[]): Promise<void> {
  const modules = plan.install_command !== null
  const archive = packFolder({
    folder: request.folder,
    prefix: appRoot.slice(1),
    own_folder: toolFolder.slice(1),
    owner: imageOwner,
    only,
    signal: request.signal,
    accepts: (path) => path !== '.git' && !(modules && (path === 'node_modules' || path.endsWith('/node_modules'))),
  })
  const failed = new Promise<never>((_, reject) => archive.once('error', reject))
  await Promise.race([container.putArchive(archive, { path: '/' }), failed])
}

/** Runs the steps and throws `BuildFailure` when one fails. */
async function carryOut(
  engine: Engine,
  container: Docker.Container,
  request: BuildRequest,
  step: 'install' | 'build',
  command: string,
  order: BuildOrder,
): Promise<void> {
  const { log, signal } = request
  log.note(step, `> ${command}`)
  const output = createOutput((stream, line) => {
    if (!signal.aborted) log.line(step, stream, line)
  })
  const stream = await container.attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true })
  const drained = new Promise<void>((resolve) =>
    stream
      .once('end', resolve)
      .once('close', resolve)
      .once('error', () => resolve()),
  )
  stream.on('data', output.live().write)
  const clock = engine.options.clock ?? systemClock
  const begun = clock.monotonic()
  try {
    await engine.startContainer(container)
    stream.write(`${JSON.stringify(order)}\n`)
    // The engine closes the stream when the container has ended; a stream that is cut off ends it as well.
    await drained
    output.end()
    signal.throwIfAborted()
    const State = await endedState(container)
    if (State.ExitCode === 0) return
    const out_of_memory = await ranOutOfMemory((await engine.connection()).docker, container.id, State)
    throw stepFailure(
      step,
      command,
      { code: State.ExitCode, signal: null, out_of_memory, too_many_processes: false, duration_ms: clock.monotonic() - begun },
      request.memory_mb,
      maxProcesses,
    )
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    readable(stream).destroy()
  }
}

/** The state of a container whose output has ended. One that runs on all the same was lost sight of, and so is the build. */
async function endedState(container: Docker.Container): Promise<Docker.ContainerInspectInfo['State']> {
  for (let looks = 0; looks < 20; looks++) {
    // A busy machine may take many seconds to answer, and the build is done by then.
    const { State } = await within(60_000, container.inspect())
    if (!State.Running) return State
    await sleep(systemClock, 50)
  }
  throw new Error('The connection to the build was lost: socket hang up')
}
