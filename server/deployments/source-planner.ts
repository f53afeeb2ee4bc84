import { lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuildSettings } from '../contract/build-plan.ts'
import type { GitSource } from '../contract/deployment-source.ts'
import { Problem } from '../contract/errors.ts'
import { runtimes } from '../contract/runtimes.ts'
import type { ManagedName } from '../contract/managed-names.ts'
import type { PlannedSource } from '../contract/source-plans.ts'
import type { DescribeOptions } from '../builder/index.ts'
import { timeoutSignal } from '../lib/clock.ts'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import { type GitCredentials, SourceError } from '../source/source.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { DeploymentServiceOptions } from './context.ts'
import { listProjectServices } from './declared-services.ts'
import { linkedRepository } from './deployment-row.ts'
import { readCredentials } from './variables.ts'

/** The settings of the project that a plan uses, or the defaults. */
export interface SourcePlanRequest extends Pick<DescribeOptions, 'variables' | 'health_path'> {
  settings: BuildSettings
  /** Selected for this plan. */
  apps?: readonly string[] | undefined
  /** The apps of the project, unless others are selected or the source has a configuration file. */
  project_apps?: readonly string[]
  managed?: readonly ManagedName[]
}

/** Plans sources without deploying them. Only reads files. */
export interface SourcePlanner {
  planRepository(source: GitSource, request: SourcePlanRequest, signal: AbortSignal): Promise<PlannedSource>
  /** The linked repository of a project, at the head of its branch. */
  planProject(project: ProjectRow, request: SourcePlanRequest, signal: AbortSignal): Promise<PlannedSource>
  planFolder(path: string, request: SourcePlanRequest): Promise<PlannedSource>
  /** Writes the plan of a folder into it; returns the name of the file. */
  saveFolderPlan(path: string, request: SourcePlanRequest): Promise<string>
}

type SourcePlannerDeps = 'data_dir' | 'default_runtime' | 'fetchSource' | 'sealer' | 'clock' | 'store' | 'databases' | 'mailCatcher'
interface SourcePlannerOptions extends Pick<DeploymentServiceOptions, SourcePlannerDeps> {
  describeSource(options: DescribeOptions): Promise<Omit<PlannedSource, 'commit'>>
  schemaUrl(): string
}

const maxConcurrentFetches = 2
const fetchTimeout_ms = 3 * 60_000
const noLog = { line: () => undefined, note: () => undefined }

export function createSourcePlanner(options: SourcePlannerOptions): SourcePlanner {
  const limitFetches = createConcurrencyLimit(maxConcurrentFetches)
  const describe = (folder: string, { apps, project_apps, ...request }: SourcePlanRequest) =>
    options.describeSource({
      ...request,
      ...(apps ? { chosen_apps: apps } : project_apps && { apps: project_apps }),
      folder,
      schema_url: options.schemaUrl(),
      builds_dockerfiles: runtimes[options.default_runtime].builds_dockerfiles,
    })

  const planFetched = (source: GitSource, credentials: GitCredentials, request: SourcePlanRequest, signal: AbortSignal) =>
    limitFetches(signal, async () => {
      const work = join(options.data_dir, 'work')
      await mkdir(work, { recursive: true, mode: 0o700 })
      const into = await mkdtemp(join(work, 'plan-'))
      const timeout = timeoutSignal(options.clock, fetchTimeout_ms)
      try {
        const limited = AbortSignal.any([signal, timeout])
        const fetched = await options.fetchSource({ source, ...(credentials && { credentials }), into, log: noLog, signal: limited })
        const plan = await describe(fetched.folder, request)
        return { ...plan, commit: { branch: source.branch, sha: fetched.commit_sha ?? '', message: fetched.commit_message ?? '' } }
      } catch (error) {
        if (error instanceof SourceError) throw new Problem('source_not_fetched', `${error.message} ${error.hint}`)
        if (timeout.aborted && !signal.aborted)
          throw new Problem('source_not_fetched', 'Fetching the repository took longer than 3 minutes. Deploy it instead.')
        throw error
      } finally {
        await rm(into, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 })
      }
    })

  return {
    planRepository: (source, request, signal) => planFetched(source, null, request, signal),
    async planProject(project, request, signal) {
      const managed = await listProjectServices(options, project.id)
      return planFetched(linkedRepository(project), readCredentials(options, project), { ...request, managed }, signal)
    },

    async planFolder(path, request) {
      return { ...(await describe(path, request)), commit: null }
    },

    async saveFolderPlan(path, request) {
      const { homeport_yaml, problems } = await describe(path, request)
      if (homeport_yaml === null) {
        const message = problems[0]?.message ?? 'The folder has nothing that can be deployed.'
        throw new Problem('invalid_input', message, { issues: [{ path: request.apps === undefined ? 'path' : 'apps', message }] })
      }
      for (const name of homeportFileNames) {
        const exists = await lstat(join(path, name)).then(
          () => true,
          () => false,
        )
        if (exists) throw new Problem('file_exists', `The folder already has a file ${name}. It was not changed.`)
      }
      const [name] = homeportFileNames
      // The flag refuses a file or a link that appeared in the meantime.
      await writeFile(join(path, name), homeport_yaml, { flag: 'wx' }).catch((error: unknown) => {
        throw new Problem('file_exists', `${name} cannot be written: ${error instanceof Error && 'code' in error ? String(error.code) : 'unknown'}.`)
      })
      return name
    },
  }
}

const homeportFileNames = ['homeport.yaml', 'homeport.yml'] as const
