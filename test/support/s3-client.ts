import { S3Client } from '@aws-sdk/client-s3'
import { Agent } from 'node:http'

/** The client of AWS with the variables of an app. Names under `localhost` are this machine, as in a browser. */
export const createS3Client = (variables: Record<string, string | undefined>, endpoint = ''): S3Client =>
  new S3Client({
    endpoint,
    region: variables.AWS_REGION ?? '',
    credentials: { accessKeyId: variables.AWS_ACCESS_KEY_ID ?? '', secretAccessKey: variables.AWS_SECRET_ACCESS_KEY ?? '' },
    forcePathStyle: true,
    requestHandler: {
      httpAgent: new Agent({
        lookup: (_hostname, options, callback) =>
          options.all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4),
      }),
    },
  })
