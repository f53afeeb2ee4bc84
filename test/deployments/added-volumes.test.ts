import { describe } from 'vitest'
import { addedVolumesSuite } from './added-volumes-suite.ts'
import { useSharedDeploymentContext } from './deployment-suite.ts'
import { unsavedFilesSuite } from './unsaved-files-suite.ts'
import { volumeUploadsSuite } from './volume-uploads-suite.ts'

describe('volumes without a configuration file, as processes', () => {
  const context = useSharedDeploymentContext('process')
  addedVolumesSuite(context)
  unsavedFilesSuite(context)
  volumeUploadsSuite(context)
})
