import type { Generated } from 'kysely'
import type { ScalingDecision } from '../contract/autoscaling.ts'

export interface ScalingDecisionRow extends Omit<ScalingDecision, 'message'> {
  seq: number
  project_id: string
}

export interface ScalingDecisionTable extends Omit<ScalingDecisionRow, 'seq'> {
  seq: Generated<number>
}
