export { planBuild, type PlanOptions } from './plan-build.ts'
export { DetectFailure } from './detect-failure.ts'
export { explainFailure, type FailedStep, type FailureExplanation } from './explain-failure.ts'
