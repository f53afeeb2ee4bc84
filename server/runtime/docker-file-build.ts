import type { DockerfilePlan } from '../contract/build-plan.ts'
import type { Engine } from './docker-engine.ts'
import { BuildFailure, type Artifact, type BuildRequest } from './runtime.ts'

export async function buildDockerfile(engine: Engine, request: BuildRequest, plan: DockerfilePlan): Promise<Artifact> {
  throw new BuildFailure('build_failed', `${engine.name()} ${request.deployment_id} ${plan.dockerfile}`, '')
}
