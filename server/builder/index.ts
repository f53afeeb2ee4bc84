export { planBuild, type PlanOptions } from './plan.ts'
export { DetectFailure } from './detect-failure.ts'
