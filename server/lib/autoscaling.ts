import type { Autoscaling } from '../contract/autoscaling.ts'

/** The column `autoscaling` of a project. */
export const parseAutoscaling = (json: string | null): Autoscaling | null => (json === null ? null : (JSON.parse(json) as Autoscaling))
export const toAutoscalingColumn = (autoscaling: Autoscaling | null): string | null => (autoscaling === null ? null : JSON.stringify(autoscaling))
