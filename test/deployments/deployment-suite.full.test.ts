import { afterAll, describe } from 'vitest'
import { createDockerFaultProxy } from '../support/docker-fault-proxy.ts'
import { requires } from '../support/requirements.ts'
import { coreDeploymentSuite, extendedDeploymentSuite, useDeploymentContext } from './deployment-suite.ts'

const long = { redeploys: 20, cancel_ms: 2_000 }

describe('deployments on process', () => extendedDeploymentSuite(useDeploymentContext('process'), long))
describe.skipIf(!requires('docker').ok)('deployments on Docker', () => extendedDeploymentSuite(useDeploymentContext('docker'), long))

// It publishes the ports of its containers, like engines in a virtual machine.
describe.skipIf(!requires('docker').ok)('deployments on an engine reached over TCP', async () => {
  const faultProxy = createDockerFaultProxy()
  afterAll(() => faultProxy.remove())
  coreDeploymentSuite(useDeploymentContext('docker', requires('docker').ok ? [await faultProxy.openTcp()] : []), 'docker')
})
