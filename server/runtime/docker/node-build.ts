import { posix } from 'node:path'
import type Docker from 'dockerode'
import type { StepLog } from '../../contract/build-log.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { createCommandFailure } from '../build-failures.ts'
import { createDependencyKey, type NodePlan } from '../dependency-key.ts'
import { getCacheOwner } from '../files.ts'
import { rejectAfter } from './connection.ts'
import { packBuildContext } from './build-context.ts'
import { toReadable, removeContainer, type DockerEngine } from './engine.ts'
import { getStatusCode } from './errors.ts'
import { createContainerOutput } from './stream-demuxer.ts'
import { ensureBaseImage, commitContainer, commitServerImage, removeOldDependencyImages } from './images.ts'
import { wasOomKilled } from './oom.ts'
import { extractStaticSite, existsInContainer } from './static-site.ts'
import {
  appRoot,
  buildRunnerScript,
  createBuildEnvironment,
  imageUserId,
  cacheFolder,
  readSecretFiles,
  createShellStep,
  toolsFolder,
  createPackageManagerSteps,
  type BuildInstructions,
} from './build-runner.ts'
import { raceAbort } from '../race-abort.ts'
import { checkPlanPaths } from '../plan-paths.ts'
import type { Artifact, Build, BuildRequest } from '../runtime.ts'
import { planFromOutput } from '../static-output.ts'

const maxProcesses = 512

/**
 * Builds Node and static plans in containers with limits for memory, CPU and processes, and commits the result. The first container contains only
 * the files that dependencies depend on and is committed under the dependency key; the second one is created from it and contains the source.
 * Variables, certificates and registry settings are sent over standard input to memory, so that no layer contains them.
 */
export function openNodeBuild(engine: DockerEngine, request: BuildRequest, plan: NodePlan): Build {
  /** The image to build in: the base image, or the dependencies installed in it; `hasSource` when it belongs to this build alone. */
  let from = { image: '', hasDependencies: false, hasSource: false }

  return {
    async install(log) {
      const { docker } = await engine.connection()
      await checkPlanPaths(request.folder, plan)
      const base = await ensureBaseImage(engine, plan.node_version, (line) => log.note(line), request)
      from = { image: base, hasDependencies: false, hasSource: false }
      if (plan.install_command === null) return
      const key = await createDependencyKey(request.folder, plan, getCacheOwner(request), request.variables)
      const dependencies = await ensureDependencyImage(engine, docker, request, plan, plan.install_command, base, key, log)
      from = { image: dependencies.image, hasDependencies: true, hasSource: !dependencies.isShared }
    },

    async build(log) {
      const { docker } = await engine.connection()
      return withBuildContainer(engine, docker, request, from.image, (container) => buildInContainer(docker, container, log))
    },

    async close() {
      if (!from.hasSource) return
      const { docker } = await engine.connection()
      // Dependencies that cannot be shared belong to this image alone; as its parent they are kept as long as the image.
      await docker
        .getImage(from.image)
        .remove({ noprune: true })
        .catch(() => {})
    },
  }

  async function buildInContainer(docker: Docker, container: Docker.Container, log: StepLog): Promise<Artifact> {
    if (!from.hasSource) await uploadSource(container, request, plan)
    if (plan.build_command !== null) {
      const steps = from.hasDependencies ? [] : createPackageManagerSteps(plan)
      await runBuildCommands(engine, container, request, 'build', log, plan.build_command, {
        files: await readSecretFiles(engine),
        restores_kept: !request.skips_cache,
        kept: plan.cache_directories.map((folder) => ({
          from: posix.join(cacheFolder, encodeURIComponent(folder)),
          to: posix.join(appRoot, plan.app_directory, folder),
        })),
        steps: [
          ...steps.map((step) => ({ ...step, env: createBuildEnvironment(engine, request, plan, 'install') })),
          createShellStep(plan.build_command, posix.join(appRoot, plan.app_directory), createBuildEnvironment(engine, request, plan, 'build')),
        ],
      })
    }
    const outputPlan = await planFromOutput(
      plan,
      (path) => existsInContainer(container, path),
      (line) => log.note(line),
    )
    if (outputPlan.kind === 'static') return await extractStaticSite(engine, container, request, outputPlan, log)
    return commitServerImage(engine, docker, container, request, outputPlan)
  }
}

/** Creates a container, passes it to `work` and removes it: immediately after a failure or abort, otherwise in the background. */
async function withBuildContainer<T>(
  engine: DockerEngine,
  docker: Docker,
  request: BuildRequest,
  image: string,
  work: (container: Docker.Container) => Promise<T>,
): Promise<T> {
  const { signal } = request
  const container = await createBuildContainer(engine, docker, request, image)
  const abort = () => void removeContainer(container).catch(() => {})
  signal.addEventListener('abort', abort, { once: true })
  let isSuccessful = false
  try {
    signal.throwIfAborted()
    await engine.connectToDatabase(container, request.project_id)
    const result = await work(container)
    isSuccessful = true
    return result
  } finally {
    signal.removeEventListener('abort', abort)
    const removal = removeContainer(container)
    if (isSuccessful) engine.runInBackground(removal)
    else await removal
  }
}

const runningInstalls = new Map<string, Promise<string>>()

/** Returns the image with the dependencies; parallel builds with the same key wait for the first. */
async function ensureDependencyImage(
  engine: DockerEngine,
  docker: Docker,
  request: BuildRequest,
  plan: NodePlan,
  command: string,
  base: string,
  key: string | null,
  log: StepLog,
): Promise<{ image: string; isShared: boolean }> {
  if (key === null) return { image: await installDependencies(engine, docker, request, plan, command, base, null, log), isShared: false }
  const name = `${engine.getImageName(request.project_id, 'dependencies').split(':')[0]}:dependencies-${key}`
  for (;;) {
    const otherInstall = runningInstalls.get(name)
    if (otherInstall) {
      log.note('Waiting for another build that installs the same dependencies.')
      await raceAbort(
        otherInstall.catch(() => {}),
        request.signal,
      )
      continue
    }
    const found = await docker
      .getImage(name)
      .inspect()
      .then(
        (image) => image.Id,
        (error: unknown) => (getStatusCode(error) === 404 ? undefined : Promise.reject(error)),
      )
    if (found && !request.skips_cache) {
      log.note('Using cached dependencies.')
      return { image: name, isShared: true }
    }
    if (runningInstalls.has(name)) continue
    const job = installDependencies(engine, docker, request, plan, command, base, name, log).finally(() => runningInstalls.delete(name))
    runningInstalls.set(name, job)
    await job
    // The untagged image is removed with the last image that was built from it.
    if (found)
      await docker
        .getImage(found)
        .remove()
        .catch(() => {})
    await removeOldDependencyImages(engine, docker, request.project_id, name)
    return { image: name, isShared: true }
  }
}

async function installDependencies(
  engine: DockerEngine,
  docker: Docker,
  request: BuildRequest,
  plan: NodePlan,
  command: string,
  base: string,
  name: string | null,
  log: StepLog,
): Promise<string> {
  return withBuildContainer(engine, docker, request, base, async (container) => {
    await uploadSource(container, request, plan, name === null ? undefined : plan.install_inputs)
    const env = createBuildEnvironment(engine, request, plan, 'install')
    await runBuildCommands(engine, container, request, 'install', log, command, {
      files: await readSecretFiles(engine),
      kept: [],
      restores_kept: false,
      steps: [
        ...createPackageManagerSteps(plan).map((step) => ({ ...step, env })),
        createShellStep(command, posix.join(appRoot, plan.install_directory), env),
      ],
    })
    // The image keeps the container's labels; a shared set must not have the label of the deployment that created it.
    const labels = engine.createLabels('dependencies', { project_id: request.project_id, deployment_id: name === null ? request.deployment_id : '' })
    return commitContainer(container, name, { Labels: labels })
  })
}

async function createBuildContainer(engine: DockerEngine, docker: Docker, request: BuildRequest, image: string): Promise<Docker.Container> {
  request.signal.throwIfAborted()
  const bytes = request.memory_mb * 1024 * 1024
  const volume = engine.createName(getCacheOwner(request), 'cache')
  const { limitCpus } = await engine.connection()
  return docker.createContainer({
    Image: image,
    name: engine.createName('build', request.deployment_id, Math.random().toString(36).slice(2, 8)),
    User: `${imageUserId}:${imageUserId}`,
    Cmd: ['node', '-e', buildRunnerScript],
    Entrypoint: [],
    WorkingDir: '/',
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Labels: engine.createLabels('build', { project_id: request.project_id, deployment_id: request.deployment_id }),
    HostConfig: {
      Memory: bytes,
      MemorySwap: bytes,
      NanoCpus: Math.round(limitCpus(request.cpus) * 1e9),
      PidsLimit: maxProcesses,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Init: true,
      NetworkMode: await engine.ensureNetwork(),
      // The volume has a name. Docker initializes a new volume from the image's folder, so that it belongs to the user node.
      Mounts: [
        {
          Type: 'volume',
          Source: volume,
          Target: '/home/node',
          VolumeOptions: {
            NoCopy: false,
            Labels: engine.createLabels('cache', { project_id: request.project_id }),
            DriverConfig: { Name: 'local', Options: {} },
          },
        },
      ],
      LogConfig: { Type: 'none', Config: {} },
    },
  })
}

async function uploadSource(container: Docker.Container, request: BuildRequest, plan: NodePlan, only_files?: string[]): Promise<void> {
  const hasInstall = plan.install_command !== null
  const archive = packBuildContext({
    folder: request.folder,
    prefix: appRoot.slice(1),
    extra_folder: toolsFolder.slice(1),
    owner: imageUserId,
    only_files,
    signal: request.signal,
    accepts: (path) => path !== '.git' && !(hasInstall && (path === 'node_modules' || path.endsWith('/node_modules'))),
  })
  const archiveFailed = new Promise<never>((_, reject) => archive.once('error', reject))
  await Promise.race([container.putArchive(archive, { path: '/' }), archiveFailed])
}

/** Runs the steps; throws `BuildFailure` when a step fails. */
async function runBuildCommands(
  engine: DockerEngine,
  container: Docker.Container,
  request: BuildRequest,
  purpose: 'install' | 'build',
  log: StepLog,
  command: string,
  instructions: BuildInstructions,
): Promise<void> {
  const { signal } = request
  log.note(`> ${command}`)
  const output = createContainerOutput((stream, line) => {
    if (!signal.aborted) log.line(stream, line)
  })
  const stream = await container.attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true })
  const drained = new Promise<void>((resolve) =>
    stream
      .once('end', resolve)
      .once('close', resolve)
      .once('error', () => resolve()),
  )
  stream.on('data', output.createLiveReader().write)
  const clock = engine.options.clock ?? systemClock
  const startedAt = clock.monotonic()
  try {
    await engine.startContainer(container)
    stream.write(`${JSON.stringify(instructions)}\n`)
    // Docker closes the stream when the container has ended; a lost connection also closes it.
    await drained
    output.end()
    signal.throwIfAborted()
    const State = await waitForExitState(container)
    if (State.ExitCode === 0) return
    const out_of_memory = await wasOomKilled((await engine.connection()).docker, container.id, State)
    throw createCommandFailure(
      purpose,
      command,
      { code: State.ExitCode, signal: null, out_of_memory, too_many_processes: false, duration_ms: clock.monotonic() - startedAt },
      request.memory_mb,
      maxProcesses,
    )
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    toReadable(stream).destroy()
  }
}

/** The state of a container whose output has ended. If it still runs, the connection to the build was lost. */
async function waitForExitState(container: Docker.Container): Promise<Docker.ContainerInspectInfo['State']> {
  for (let attempts = 0; attempts < 20; attempts++) {
    // A busy machine may take many seconds to respond.
    const { State } = await rejectAfter(60_000, container.inspect())
    if (!State.Running) return State
    await sleep(systemClock, 50)
  }
  throw new Error('The connection to the build was lost: socket hang up')
}
