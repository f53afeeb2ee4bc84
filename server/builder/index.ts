export { planBuild, type PlanOptions } from './plan.ts'
export { DetectFailure } from './detect-failure.ts'
export { explainFailure, type FailedStep, type FailureExplanation } from './failure.ts'
