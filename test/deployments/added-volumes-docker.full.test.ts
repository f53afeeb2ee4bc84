import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { addedVolumesSuite } from './added-volumes-suite.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { unsavedFilesSuite } from './unsaved-files-suite.ts'
import { volumeUploadsSuite } from './volume-uploads-suite.ts'

describe.skipIf(!requires('docker').ok)('volumes without a configuration file, on Docker', () => {
  const context = useDeploymentContext('docker')
  addedVolumesSuite(context)
  unsavedFilesSuite(context)
  volumeUploadsSuite(context)
})
