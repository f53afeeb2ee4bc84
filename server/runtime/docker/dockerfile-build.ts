import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import type Docker from 'dockerode'
import { pack } from 'tar-stream'
import { Readable } from 'node:stream'
import { systemClock } from '../../lib/clock.ts'
import type { StepLog } from '../../contract/build-log.ts'
import type { DockerfilePlan } from '../../contract/build-plan.ts'
import type { CacheGenerations } from './cache-generation.ts'
import { packBuildContext } from './build-context.ts'
import { type BuildCgroup, openBuildCgroup } from './build-cgroup.ts'
import { requireOpenImages } from './base-images.ts'
import { solve } from './buildkit-control.ts'
import { type BuildKitSession, openBuildKitSession } from './buildkit-session.ts'
import { toReadable, type DockerEngine } from './engine.ts'
import { getStatusCode } from './errors.ts'
import { BaseImageFailure, explainDockerfileFailure, LostLayerFailure } from './dockerfile-failure.ts'
import { addLabels, prepareDockerfile, needsBuildKit, type HostMounts } from './dockerfile.ts'
import { addFilesToImage } from './added-files.ts'
import { createDockerIgnore } from '../../lib/docker-ignore.ts'
import { explainPullRefusal, findImageId, listLocalTags, removeReplacedImage } from './images.ts'
import { createRegistryConfig, findRegistryLogin } from './registry-access.ts'
import { createBuildKitLog, streamBuildOutput, throwBuildFailure } from './build-progress.ts'
import { readSecretFiles } from './build-runner.ts'
import { getCacheOwner, resolveInside } from '../files.ts'
import { BuildFailure, type Artifact, type BuildRequest } from '../runtime.ts'
import { findNearestVersion } from '../unavailable-failure.ts'

/**
 * Builds a user's own Dockerfile with Docker's builder. The classic builder enforces limits of memory and CPU. `POST /build` has none for BuildKit; newer
 * engines prefer it, and only BuildKit can give a step the host's certificates without leaving them in a layer. A build with a CPU limit uses the
 * classic builder unless it needs BuildKit, which then runs it in a control group with the limits, where the engine can (`build-cgroup.ts`).
 * Variables are set at run time only, because a Dockerfile that uses one at build time would keep it in its layers. Those that are build secrets can be
 * mounted by RUN steps; they reach BuildKit through a session, and no part of the image.
 */
export async function buildDockerfile(
  engine: DockerEngine,
  generations: CacheGenerations,
  request: BuildRequest,
  plan: DockerfilePlan,
  log: StepLog,
): Promise<Artifact> {
  const { docker, builder, limitCpus, buildsInCgroups } = await engine.connection()
  const { signal } = request
  const text =
    plan.text ??
    (await readFile(resolveInside(request.folder, plan.dockerfile), 'utf8').catch((error: unknown) => {
      throw new BuildFailure('build_failed', `The source has no ${plan.dockerfile}.`, 'Check the root directory in the project settings.', error)
    }))
  // The certificates are for Node, whose path a generated Dockerfile names if it has Node.
  const files = plan.text === null || /\b(?:node|npm|npx|bun|deno)\b/.test(plan.text) ? await readSecretFiles(engine) : {}
  const hasCpuLimit = request.cpus !== null
  const useBuildKit = (builder === '2' && !hasCpuLimit) || Object.keys(files).length > 0 || needsBuildKit(text)
  if (request.skips_cache) await generations.renew(getCacheOwner(request))
  const mounts = useBuildKit && Object.keys(files).length > 0 ? await importHostFiles(engine, docker, files, request) : null
  const pull = await requireOpenImages(engine, docker, { access: request.registries, text, may_pull: mounts === null })
  const name = engine.getImageName(request.project_id, request.deployment_id, request.service)
  let session: BuildKitSession | null = null
  let cgroup: BuildCgroup | null = null
  let context: Readable | undefined
  for (const note of explainMissingSecrets(text, request)) log.note(note)
  try {
    signal.throwIfAborted()
    // The tag names the deployment. A label of it would be a step of its own in each build.
    const labels = engine.createLabels('image', { project_id: request.project_id })
    const prepared = prepareDockerfile(text, { mounts, generation: await readGeneration(request, generations) })
    const labelled = useBuildKit || plan.target !== null ? null : addLabels(prepared, labels)
    const file = { name: plan.text === null ? plan.dockerfile : null, text, built: labelled ?? prepared }
    const earlier = await findImageId(docker, name)
    const bytes = request.memory_mb * 1024 * 1024
    const limits = { memory: bytes, memswap: bytes, cpuperiod: 100_000, cpuquota: Math.round(limitCpus(request.cpus) * 100_000) }
    const settings = {
      t: name,
      ...(labelled === null && { labels }),
      rm: true,
      forcerm: true,
      abortSignal: signal,
      networkmode: 'default',
      ...(pull && { pull }),
      ...(plan.target !== null && { target: plan.target }),
      ...(Object.keys(plan.arguments).length > 0 && { buildargs: plan.arguments }),
      ...(useBuildKit ? { version: '2' as const } : limits),
    }
    session = useBuildKit
      ? await openBuildKitSession(docker, {
          secrets: request.build_secrets,
          findLogin: (host) => findRegistryLogin(engine, request.registries, host),
          openContext: () => context,
        })
      : null
    const registryconfig = useBuildKit ? undefined : await createRegistryConfig(engine, request.registries, [text, ...Object.values(plan.arguments)])
    if (useBuildKit && hasCpuLimit && !buildsInCgroups)
      log.note('The CPU limit does not apply to this build: it needs BuildKit, which can be limited in Docker 23 and newer, except rootless.')
    if (useBuildKit && hasCpuLimit && buildsInCgroups)
      cgroup = await openBuildCgroup(engine, request, (line) => log.note(line)).catch((error: unknown) => {
        signal.throwIfAborted()
        log.note(`The CPU limit does not apply to this build: ${error instanceof Error ? error.message : String(error)}`)
        return null
      })
    const runBuild = async (): Promise<void> => {
      const { archive, dockerfile } = await createBuildContext(request, plan, file.built)
      const contextFailed = new Promise<never>((_, reject) => archive.once('error', reject))
      if (session && cgroup) {
        context = archive
        const output = createBuildKitLog(log)
        const attributes = createFrontendAttributes(plan, { dockerfile, labels, pull: pull === true, cgroup: cgroup.path })
        const solved = solve(docker, { session: session.id, image: name, attributes, signal }, (message) => output.write(message.toString('base64')))
        const failure = await Promise.race([solved, contextFailed]).finally(() => output.end())
        if (failure === null) return
        if (!/cgroup/.test(failure) || /exit code:/.test(failure)) throwBuildFailure(failure, log, file, request.memory_mb)
        log.note(`The CPU limit does not apply to this build: ${failure}`)
        await cgroup.close()
        cgroup = null
        return runBuild()
      }
      const started = (
        session
          ? buildInSession(docker, archive, { ...settings, dockerfile }, session.id)
          : docker.buildImage(archive, { ...settings, dockerfile, ...(registryconfig && { registryconfig }) })
      ).catch((error: unknown) => {
        if (getStatusCode(error) !== 400 || !(error instanceof Error)) throw error
        const message = error.message.replace(/^\(HTTP code 400\) .*? - /, '')
        log.line('stderr', message)
        throw explainDockerfileFailure(file, message, request.memory_mb)
      })
      const response = toReadable(await Promise.race([started, contextFailed]))
      await Promise.race([streamBuildOutput(response, log, signal, file, request.memory_mb, engine.options.clock ?? systemClock), contextFailed])
    }
    await runBuild().catch((error: unknown) => {
      if (!(error instanceof LostLayerFailure) || signal.aborted) throw error
      log.note(`${error.message} The build starts again.`)
      return runBuild()
    })
    if (plan.added_files?.length) await addFilesToImage(docker, name, request, plan.added_files, labels, log)
    await removeReplacedImage(docker, earlier, name)
    return await createArtifact(docker, name, plan)
  } catch (error) {
    if (signal.aborted)
      await docker
        .getImage(name)
        .remove({ force: true })
        .catch(() => {})
    signal.throwIfAborted()
    throw error instanceof BaseImageFailure ? await explainBaseImage(engine, docker, request, error) : error
  } finally {
    session?.close()
    if (cgroup) await cgroup.close().catch((error: unknown) => engine.options.log.warn('docker_cleanup_failed', { error }))
    if (mounts)
      await docker
        .getImage(mounts.image)
        .remove({ force: true })
        .catch(() => {})
  }
}

/** dockerode would open its own session, without secrets. */
function buildInSession(docker: Docker, archive: Readable, { abortSignal, ...options }: Docker.ImageBuildOptions, session: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    docker.modem.dial(
      {
        path: '/build?',
        method: 'POST',
        file: archive,
        options: { ...options, session },
        abortSignal,
        isStream: true,
        statusCodes: { 200: true, 500: 'server error' },
      },
      (error: unknown, response: unknown) => (error ? reject(error) : resolve(response)),
    )
  })
}

/** The parameters of `POST /build`, as attributes of BuildKit's own API. */
function createFrontendAttributes(
  plan: DockerfilePlan,
  request: { dockerfile: string; labels: Record<string, string>; pull: boolean; cgroup: string },
): Record<string, string> {
  const prefixed = (prefix: string, values: Record<string, string>) => Object.entries(values).map(([key, value]) => [`${prefix}:${key}`, value])
  return {
    ...(Object.fromEntries([...prefixed('label', request.labels), ...prefixed('build-arg', plan.arguments)]) as Record<string, string>),
    filename: request.dockerfile,
    // BuildKit requests paths below this host from its session.
    context: `http://buildkit-session/${randomBytes(8).toString('hex')}`,
    'image-resolve-mode': request.pull ? 'pull' : 'default',
    'cgroup-parent': request.cgroup,
    ...(plan.target !== null && { target: plan.target }),
  }
}

/** A missing secret would become an empty mount, which is hard to diagnose. */
function explainMissingSecrets(text: string, { build_secrets, variables }: BuildRequest): string[] {
  const mounted = [...text.matchAll(/--mount=\S*type=secret\S*/g)].flatMap(([mount]) => /(?:[=,]|^)id=([\w.-]+)/.exec(mount)?.[1] ?? [])
  return [...new Set(mounted)]
    .filter((id) => !Object.hasOwn(build_secrets, id))
    .map((id) =>
      Object.hasOwn(variables, id)
        ? `The Dockerfile mounts the secret ${id}, but the variable ${id} is no build secret. Turn on “Build secret” for it, or set it with --build-secret.`
        : `The Dockerfile mounts the secret ${id}, but the project has no variable of this name.`,
    )
}

/** Reports why the registry refused a base image, and which tag of it exists on this machine. */
async function explainBaseImage(engine: DockerEngine, docker: Docker, request: BuildRequest, failure: BaseImageFailure): Promise<BuildFailure> {
  const { image, subject, cause } = failure
  const refusal = image === undefined || image.includes('$') ? undefined : await explainPullRefusal(engine, request.registries, image, subject, cause)
  return suggestLocalTag(docker, refusal ? new BaseImageFailure(image, subject, refusal) : failure)
}

/** Adds the nearest tag of the repository on this machine to the hint. */
async function suggestLocalTag(docker: Docker, failure: BaseImageFailure): Promise<BuildFailure> {
  const [, repository, wanted = ''] = /^([^@]+?)(?::([\w.-]+))?(?:@.*)?$/.exec(failure.image ?? '') ?? []
  if (!repository) return failure
  const tags = await listLocalTags(docker, repository).catch((): string[] => [])
  const nearest = findNearestVersion(wanted, tags) ?? tags[0]
  return nearest
    ? new BuildFailure(failure.code, failure.message, `${failure.hint} This machine has ${repository}:${nearest}.`, failure.cause)
    : failure
}

/** Imports certificates and registry settings as an image that steps can mount; it is removed when the build ends. */
async function importHostFiles(engine: DockerEngine, docker: Docker, files: Record<string, string>, request: BuildRequest): Promise<HostMounts> {
  const archive = pack()
  // Readable by every user that a step may use.
  for (const [name, text] of Object.entries(files)) archive.entry({ name, mode: 0o644, mtime: new Date(0) }, text)
  archive.finalize()
  const [repo, tag] = [engine.createName('host-files'), randomBytes(8).toString('hex')]
  const labels = Object.entries(engine.createLabels('build', { project_id: request.project_id, deployment_id: request.deployment_id }))
  const changes = labels.map(([key, value]) => `LABEL ${key}=${value}`)
  const response = toReadable(await docker.importImage(Readable.from(archive, { objectMode: false }), { repo, tag, changes }))
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(response, (error) => (error ? reject(error) : resolve()))
  })
  return { image: `${repo}:${tag}`, ca: 'ca.crt' in files, npmrc: 'npmrc' in files }
}

async function createBuildContext(
  request: BuildRequest,
  plan: DockerfilePlan,
  dockerfile: string,
): Promise<{ archive: Readable; dockerfile: string }> {
  const folder = resolveInside(request.folder, plan.context_directory)
  const relative = posix.relative(posix.normalize(plan.context_directory), posix.normalize(plan.dockerfile))
  // A Dockerfile outside of its context is added under a reserved name.
  const path = relative.startsWith('../') ? '.homeport.Dockerfile' : relative
  const read = (file: string) => readFile(file, 'utf8').catch(() => undefined)
  const ignore =
    (await read(resolveInside(request.folder, `${plan.dockerfile}.dockerignore`))) ?? (await read(resolveInside(folder, '.dockerignore'))) ?? ''
  const accepts = createDockerIgnore([...plan.ignored, ignore].join('\n'))
  const archive = packBuildContext({
    folder,
    prefix: '',
    owner: 0,
    signal: request.signal,
    accepts: (one, isFolder) => one !== '.git' && one !== path && accepts(one, isFolder),
    extra_files: { [path]: dockerfile },
  })
  return { archive, dockerfile: path }
}

async function createArtifact(docker: Docker, name: string, plan: DockerfilePlan): Promise<Artifact> {
  const { Size, Config } = await docker.getImage(name).inspect()
  const exposed = Object.keys(Config.ExposedPorts ?? {}).filter((port) => port.endsWith('/tcp'))
  return { kind: 'image', image: name, port: plan.port ?? (exposed.length === 1 ? Number.parseInt(exposed[0]!, 10) : null), bytes: Size }
}

/** RUN steps of an untrusted build do not match the project's cache. */
async function readGeneration(request: BuildRequest, generations: CacheGenerations): Promise<string | null> {
  const generation = await generations.read(getCacheOwner(request))
  return request.is_untrusted ? `untrusted${generation ?? ''}` : generation
}
