import { dockerfile, type Language, parseVersion, readAny, readToolVersion, startWith, unprivileged } from './language.ts'

const defaultVersion = '21'

/** Java and Kotlin with Maven or Gradle: Spring Boot, Quarkus, or any build that makes one runnable jar. */
export const java: Language = async (app) => {
  const pom = await app.read('pom.xml')
  const gradle = await readAny(app, ['build.gradle', 'build.gradle.kts'])
  if (pom === null && gradle === '') return null
  const manifest = pom ?? gradle
  const version = (
    parseVersion(await app.read('.java-version')) ??
    (await readToolVersion(app, 'java')) ??
    parseVersion(/<(?:java\.version|maven\.compiler\.release|maven\.compiler\.target|release)>\s*([\d.]+)/.exec(manifest)?.[1]) ??
    parseVersion(
      /(?:JavaLanguageVersion\.of\(|jvmToolchain\(|sourceCompatibility\s*=\s*(?:JavaVersion\.VERSION_)?['"]?)\s*(\d+)/.exec(manifest)?.[1],
    ) ??
    defaultVersion
  ).replace(/^1\./, '')
  const major = version.split('.')[0] ?? defaultVersion
  const isSpring = /spring-boot/.test(manifest)
  const isQuarkus = /quarkus/.test(manifest)
  const builds = pom === null ? planGradle(app.names) : planMaven(app.names)
  const build = app.build_command ?? builds.build
  const port = isSpring ? ' -Dserver.port=$PORT' : isQuarkus ? ' -Dquarkus.http.host=0.0.0.0 -Dquarkus.http.port=$PORT' : ''
  return {
    framework: isSpring ? 'spring-boot' : isQuarkus ? 'quarkus' : 'java',
    explanation: [
      `${isSpring ? 'Spring Boot' : isQuarkus ? 'Quarkus' : 'Java'} app found (${pom === null ? 'build.gradle' : 'pom.xml'}): Java ${major}`,
      `Build: ${build}`,
    ],
    dockerfile: dockerfile(
      `FROM ${builds.image}${major} AS build`,
      'WORKDIR /src',
      app.build_command === null && app.install_command === null ? builds.dependencies : null,
      'COPY . .',
      app.install_command === null ? null : `RUN ${app.install_command}`,
      `RUN ${build}`,
      // Quarkus keeps its libraries next to the jar. Spring also makes a -plain jar, which does not run.
      `RUN mkdir /out && if [ -d ${builds.output}/quarkus-app ]; then cp -r ${builds.output}/quarkus-app/. /out/ && mv /out/quarkus-run.jar /out/app.jar; else cp "$(find ${builds.jars} -maxdepth 1 -name '*.jar' ! -name '*-plain.jar' ! -name '*-sources.jar' ! -name '*-javadoc.jar' ! -name 'original-*' | head -n 1)" /out/app.jar; fi`,
      '',
      `FROM eclipse-temurin:${major}-jre`,
      'WORKDIR /app',
      'RUN chown 1000:1000 /app',
      'COPY --chown=1000:1000 --from=build /out ./',
      unprivileged,
      'ENV JAVA_TOOL_OPTIONS=-XX:MaxRAMPercentage=75',
      startWith(app.procfile ?? `java${port} -jar app.jar`),
    ),
    ignored: ['target', 'build', '.gradle', '.env', 'node_modules'],
  }
}

interface JavaTool {
  image: string
  dependencies: string[]
  build: string
  output: string
  jars: string
}

const planMaven = (names: readonly string[]): JavaTool => ({
  image: 'maven:3-eclipse-temurin-',
  // Modules have their own pom.xml, so their dependencies are known only with the whole source.
  dependencies: names.includes('src/')
    ? [`COPY ${names.includes('.mvn/') ? '.mvn ./.mvn\nCOPY pom.xml' : 'pom.xml'} ./`, 'RUN mvn -B -q dependency:go-offline || true']
    : [],
  build: 'mvn -B -q -DskipTests package',
  output: 'target',
  jars: 'target',
})

const planGradle = (names: readonly string[]): JavaTool => ({
  image: 'gradle:8-jdk',
  dependencies: [],
  build: `${names.includes('gradlew') ? 'sh ./gradlew' : 'gradle'} build -x test --no-daemon`,
  output: 'build',
  jars: 'build/libs',
})
