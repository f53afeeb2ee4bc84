import { describe } from 'vitest'
import { coreDeploymentSuite, extendedDeploymentSuite, useDeploymentContext } from './deployment-suite.ts'

describe('deployments on process', () => {
  const context = useDeploymentContext('process')
  coreDeploymentSuite(context, 'process')
  extendedDeploymentSuite(context, { redeploys: 3, cancel_ms: Infinity })
})
