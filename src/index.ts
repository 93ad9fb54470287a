/// <reference types="node" preserve="true" />
/** Runs model-written code in isolated sandboxes and carries Agent Skills into them. */
// First, so that an older Node is named as the fault before a package that it cannot run is evaluated.
import './contracts/require-node.ts';

export { createModelGateway } from './models/gateways/create-model-gateway.ts';
export { type ModelEnvironment, readModelSettings } from './models/gateways/model-environment.ts';
export type { ModelAnswer, ModelGateway, ModelMessage, ModelRequest, ModelUsage } from './models/model-gateway.ts';
export type { SdkModel } from './models/gateways/sdk-model-gateway.ts';
export type { ModelRetryOptions } from './models/gateways/model-retry.ts';
export type { ModelProvider, ModelSettings } from './models/gateways/model-settings.ts';
export { recordingGateway } from './models/recordings/recording-gateway.ts';
export { replayGateway } from './models/recordings/replay-gateway.ts';
export type { SdkGatewayOptions } from './models/gateways/sdk-gateway-options.ts';
export type { ApprovalAnswer, ApprovalRequest, Approve } from './tools/calls/approval.ts';
export type { SdkTool, SdkTools } from './tools/define/sdk-tools.ts';
export { defineTool, type Tool, type ToolContext, type ToolDefinition } from './tools/define/tool.ts';
export type { ToolSchema } from './tools/schema/schema-source.ts';
export type {
  SchemaSide,
  SdkSchema,
  SdkVerdict,
  StandardIssue,
  StandardSchema,
  StandardVerdict,
} from './tools/schema/tool-schema.ts';
export { ToolCallError, type ToolCallErrorOptions, ToolError } from './tools/define/tool-errors.ts';
export type { DecisionRound, JobDecision, SelectOptions } from './contracts/jobs/decision.ts';
export type * from './contracts/skills/descriptor.ts';
export type { Diagnostic, DiagnosticCode, DiagnosticPlace, Severity } from './contracts/errors/diagnostic.ts';
export { DIAGNOSTIC_REGISTRY, type DiagnosticEntry } from './contracts/errors/diagnostic-registry.ts';
export type { DiagnosticText } from './contracts/errors/diagnostic-severities.ts';
export { ERROR_REGISTRY, type ErrorCode, type ErrorEntry } from './contracts/errors/error-registry.ts';
export type { JobEvent, ModelStage, OutputEvent } from './contracts/jobs/events.ts';
export type { GenerateOptions, Generation, StandardSchemaLike, ZodSchema } from './contracts/jobs/generation.ts';
export type {
  RuntimeGlobals,
  SandboxJob,
  SandboxNetwork,
  SandboxPackages,
  ToolDeclarations,
  ToolDescription,
} from './contracts/jobs/globals.ts';
export type {
  CodegenOptions,
  ExecOptions,
  InputContent,
  InputFile,
  JobBudget,
  JobMatchOptions,
  JobOptions,
  JobOutputs,
  JobSkillsOptions,
  JobTool,
  ScriptOptions,
} from './contracts/jobs/job.ts';
export type { BuiltInLanguage, Language } from './contracts/jobs/language.ts';
export { TOOL_CALL_CODES, type ToolCallCode } from './contracts/errors/tool-call-codes.ts';
export { DEFAULT_LIMITS, type JobLimits } from './contracts/jobs/limits.ts';
export type { DenialReason } from './contracts/network/denial-reasons.ts';
export type { InstalledPackage, JobPackages } from './contracts/network/job-packages.ts';
export type {
  AwsKeys,
  AwsSecret,
  HeaderSecret,
  NetworkOptions,
  NetworkSecret,
  PackageOptions,
  SecretValue,
} from './contracts/network/network-options.ts';
export type { NetworkRule } from './contracts/network/network-rule.ts';
export type { ToldKeys, ToldNetwork, ToldSecret } from './contracts/network/told-network.ts';
export type { DeniedRequests, NetworkRow, ResultNetwork } from './contracts/network/result-network.ts';
export type * from './contracts/jobs/result.ts';
export type {
  Session,
  SessionExport,
  SessionFile,
  SessionFiles,
  SessionOptions,
  SessionResult,
  SessionRun,
  SessionRunOptions,
  SessionStream,
} from './contracts/jobs/session.ts';
export type * from './contracts/skills/skill.ts';
export type * from './contracts/skills/store.ts';
export { SkillcellError, type SkillcellErrorOptions } from './contracts/errors/skillcell-error.ts';
export type { SandboxUsage } from './contracts/jobs/usage.ts';
export type { SweepSummary } from './jobs/sweep-runners.ts';
export { createLogger, type LoggerOptions } from './jobs/create-logger.ts';
export { createOrchestrator } from './jobs/create-orchestrator.ts';
export type {
  JobStream,
  JobStreamOptions,
  Orchestrator,
  OrchestratorOptions,
  PoolMetrics,
  PoolOptions,
} from './jobs/orchestrator.ts';
export type * from './evals/eval-report.ts';
export { evaluateSkill, type EvaluateSkillOptions, type OnEvalRun } from './evals/evaluate-skill.ts';
export type { EvalProgress } from './evals/conduct-eval.ts';
export type { EvalJobOptions, MadeEvalRun } from './evals/make-run.ts';
export { openSkillLibrary } from './library/open-skill-library.ts';
export type {
  Admit,
  LibraryConsumer,
  LibraryHead,
  LibraryRequest,
  SkillLibrary,
  SkillLibraryOptions,
} from './library/snapshot/skill-library.ts';
export {
  searchSkills,
  type SearchSkillsOptions,
  type SkillHit,
  type SkillSearch,
} from './library/search/search-skills.ts';
export type { SearchMatch, SearchSnippet } from './library/search/search-snippet.ts';
export type { SearchedField } from './library/search/searched-fields.ts';
export { connectMcpTools, type McpToolNote, type McpTools } from './mcp/client/connect-mcp-tools.ts';
export type { McpAddress, McpProgram, McpServer, McpServers } from './mcp/client/mcp-servers.ts';
export type { McpConnectOptions, McpToolOptions } from './mcp/client/mcp-tool-options.ts';
export { createDockerRunner, type DockerRunnerOptions } from './sandboxes/docker/docker-runner.ts';
export type { EngineOptions } from './sandboxes/docker/engine/engine-options.ts';
export type { ImageFlavor } from './sandboxes/docker/image-flavor.ts';
export { createLocalRunner, type LocalRunnerOptions } from './sandboxes/local/local-runner.ts';
export type * from './sandboxes/runner.ts';
export { RUNNER_CONTRACT } from './sandboxes/runner.ts';
export { ensureRuntime, type RuntimeBundle } from './sandboxes/runtime-bundle.ts';
export type { WarmPoolCounts } from './sandboxes/pool/warm-pool.ts';
export { openTreeCache, type TreeCache, type TreeCacheOptions } from './library/stores/cache/tree-cache.ts';
export { createDirectoryStore, type DirectoryStoreOptions } from './library/stores/directory/directory-store.ts';
export * from './skills/index.ts';
export type { ExplainedRule, OtherVersion, SkillExplanation, SkillPlace } from './authoring/explain-skill.ts';
export type { ImportEdge, ImportState } from './authoring/import-graph.ts';
export type { OwnCode } from './contracts/errors/diagnostic-severities.ts';
export type { LibraryCode } from './contracts/errors/library-severities.ts';
export type { HeadRecord } from './library/heads/head-record.ts';
export type { StoreState } from './library/heads/look-at-store.ts';
export type { GateVerdict } from './library/snapshot/skill-library.ts';
export type { SkillParts, SkillPartsReading } from './skills/load/read-skill-parts.ts';
