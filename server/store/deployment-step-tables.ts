import type { StepName, StepStatus } from '../contract/deployments.ts'

export interface DeploymentStepRow {
  deployment_id: string
  position: number
  name: StepName
  status: StepStatus
  started_at: string | null
  finished_at: string | null
}
