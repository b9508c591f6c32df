//! Every code that AWS answers with, and what it means to the call it answers. Must never hold two rows that depend on their
//! order by accident: particular rows stand before general ones.
//!
//! Sources: the services' API models, EC2's list of error codes, and wordings that clients of those services are known to
//! wait for where one code means several things.

use crate::{contract::Class, sandbox::world::matches};

/// What a row's codes mean.
#[derive(Clone, Copy)]
enum Means {
    Is(Class),
    /// Something is not there: what the call is about, or, in calls that make or join things, what they lean on.
    Absent,
}

struct Row {
    /// `ec2:Delete*`
    calls: &'static [&'static str],
    codes: &'static [&'static str],
    /// One of these words must stand in the message, whatever their case; none: any message.
    says: &'static [&'static str],
    means: Means,
}

const fn row(
    calls: &'static [&'static str],
    codes: &'static [&'static str],
    says: &'static [&'static str],
    class: Class,
) -> Row {
    Row { calls, codes, says, means: Means::Is(class) }
}

const fn absent(calls: &'static [&'static str], codes: &'static [&'static str], says: &'static [&'static str]) -> Row {
    Row { calls, codes, says, means: Means::Absent }
}

const ANY: &[&str] = &["*"];
const DELETES: &[&str] = &["*:Delete*", "*:Release*", "*:Detach*", "*:Disassociate*", "*:Remove*", "*:Terminate*"];
const CREATES: &[&str] = &["*:Create*"];

/// IAM shows a new role to other services after seconds, as a rule. These are the words in which they miss it.
const ROLE_NOT_VISIBLE: &[&str] = &[
    "does not exist",
    "error in role params",
    "role could not be assumed",
    "trusted entity is not correct",
    "managed policies",
    "role's policy must include",
    "invalid principal",
    "invalid iam instance profile",
    "not authorized to perform: sts:assumerole",
    "cannot be assumed",
];

/// Another change of the same object runs, or the object is on its way to another state.
const UNDER_CHANGE: &[&str] = &[
    "in progress",
    "currently",
    "not in active",
    "not active",
    "creating",
    "updating",
    "deleting",
    "pending",
    "another operation",
];

static TABLE: &[Row] = &[
    // Who asks.
    row(
        ANY,
        &[
            "ExpiredToken",
            "ExpiredTokenException",
            "RequestExpired",
            "TokenRefreshRequired",
            "InvalidClientTokenId",
            "UnrecognizedClientException",
            "InvalidAccessKeyId",
            "SignatureDoesNotMatch",
            "InvalidSignatureException",
            "RequestTimeTooSkewed",
        ],
        &[],
        Class::Expired,
    ),
    row(ANY, &["AuthFailure"], &["validate the provided access credentials"], Class::Expired),
    // EC2 refuses to part with an address, or a gateway from a network, while something is mapped to it.
    row(&["ec2:ReleaseAddress", "ec2:DetachInternetGateway"], &["AuthFailure"], &[], Class::InUse),
    // A delete that a policy allows by tag is answered so for what is gone as well: whoever deletes looks before judging.
    row(
        ANY,
        &[
            "UnauthorizedOperation",
            "UnauthorizedAccess",
            "AccessDenied",
            "AccessDeniedException",
            "DependencyAccessDeniedException",
            "KmsAccessDenied",
            "NotAuthorized",
            "AuthFailure",
            "AllAccessDisabled",
            "OptInRequired",
            "SubscriptionRequiredException",
            "PendingVerification",
            "Blocked",
            "OperationNotPermitted",
            "CannotDelete",
            "UnmodifiableEntity",
            "ManagedRuleException",
        ],
        &[],
        Class::Denied,
    ),
    row(ANY, &["InvalidRequestException"], &["deletion protection"], Class::Denied),
    // How fast.
    row(
        ANY,
        &[
            "RequestLimitExceeded",
            "BandwidthLimitExceeded",
            "Throttling",
            "ThrottlingException",
            "ThrottledException",
            "RequestThrottled",
            "RequestThrottledException",
            "EC2ThrottledException",
            "KmsThrottled",
            "TooManyRequestsException",
            "PriorRequestNotComplete",
            "SlowDown",
        ],
        &[],
        Class::Throttled,
    ),
    row(ANY, &["LimitExceededException"], &["rate exceeded", "too many requests", "too many calls"], Class::Throttled),
    // How many.
    row(
        ANY,
        &[
            "VcpuLimitExceeded",
            "MaxSpotInstanceCountExceeded",
            "MaxFleetCountExceeded",
            "ResourceLimitExceededException",
            "ServiceLimitExceeded",
            "QuotaExceededException",
            "BackfillLimitExceededException",
            "LimitExceededException",
            "TooManyBuckets",
            "TooManyLoadBalancers",
            "TooManyTargetGroups",
            "OverLimit",
            "*LimitExceeded",
        ],
        &[],
        Class::Quota,
    ),
    row(
        ANY,
        &[
            "InsufficientInstanceCapacity",
            "InsufficientHostCapacity",
            "InsufficientReservedInstanceCapacity",
            "InsufficientCapacity*",
            "ReservationCapacityExceeded",
            "UnfulfillableCapacity",
            // Another zone has another subnet.
            "InsufficientFreeAddressesInSubnet",
        ],
        &[],
        Class::NoCapacity,
    ),
    row(&["ec2:*"], &["Unsupported"], &["availability zone"], Class::NoCapacity),
    // Something new is not seen everywhere yet.
    row(
        ANY,
        &["InvalidParameterException", "InvalidParameterValue", "MalformedPolicyDocument", "MalformedPolicy"],
        ROLE_NOT_VISIBLE,
        Class::NotYet,
    ),
    row(ANY, &["ResourceNotReady"], &[], Class::NotYet),
    // Not there.
    absent(
        ANY,
        &[
            "Invalid*.NotFound",
            "*.NotFoundException",
            "InvalidPlacementGroup.Unknown",
            "InvalidKeyPair.NotFound",
            "NatGatewayNotFound",
            "Gateway.NotAttached",
            "ResourceNotFoundException",
            "ResourceNotFound",
            "NotFoundException",
            "NoSuchEntity",
            "FileSystemNotFound",
            "DataRepositoryAssociationNotFound",
            "DataRepositoryTaskNotFound",
            "LoadBalancerNotFound",
            "TargetGroupNotFound",
            "SubnetNotFound",
            "ParameterNotFound",
            "QueueDoesNotExist",
            "AWS.SimpleQueueService.NonExistentQueue",
            "NoSuchResourceException",
            "NoSuch*",
            "ServerSideEncryptionConfigurationNotFoundError",
            "OwnershipControlsNotFoundError",
            "NotFound",
        ],
        &[],
    ),
    absent(&["eks:*"], &["ClientException"], &["no cluster found"]),
    absent(&["autoscaling:*"], &["ValidationError"], &["not found"]),
    // There already.
    row(CREATES, &["ResourceInUseException"], &["in progress", "currently", "updating"], Class::Conflict),
    row(CREATES, &["ResourceInUseException"], &[], Class::AlreadyExists),
    row(
        ANY,
        &[
            "Invalid*.Duplicate",
            "*.AlreadyExistsException",
            "Resource.AlreadyAssociated",
            "RouteAlreadyExists",
            "InvalidSubnet.Conflict",
            "EntityAlreadyExists",
            "ResourceAlreadyExistsException",
            "AlreadyExists",
            "BucketAlreadyExists",
            "BucketAlreadyOwnedByYou",
            "DuplicateLoadBalancerName",
            "DuplicateTargetGroupName",
            "QueueAlreadyExists",
            "QueueNameExists",
            // The same token with other parameters: a create of ours that another run of this program made otherwise.
            "IdempotentParameterMismatch",
            "IncompatibleParameterError",
        ],
        &[],
        Class::AlreadyExists,
    ),
    // Leaned on.
    row(DELETES, &["ResourceInUseException"], &["in progress"], Class::Conflict),
    row(DELETES, &["ResourceInUseException", "ResourceInUse"], &[], Class::InUse),
    row(DELETES, &["BadRequest"], &["task", "in use", "association"], Class::InUse),
    row(
        ANY,
        &["DependencyViolation", "Invalid*.InUse", "VolumeInUse", "DeleteConflict", "BucketNotEmpty"],
        &[],
        Class::InUse,
    ),
    row(&["ec2:DeleteNetworkInterface"], &["InvalidParameterValue"], &["currently in use"], Class::InUse),
    // Under change.
    row(
        ANY,
        &[
            "ResourceInUseException",
            "ResourceInUse",
            "ResourceContention",
            "ScalingActivityInProgress",
            "IncorrectState",
            "IncorrectInstanceState",
            "IncorrectModificationState",
            "InvalidStateException",
            "InvalidResourceStateException",
            "ConcurrentModification",
            "ConcurrentModificationException",
            "EntityTemporarilyUnmodifiable",
            "OperationAborted",
            "OperationAbortedException",
            "PreconditionFailed",
            "ConditionalRequestConflict",
            "DataRepositoryTaskExecuting",
            "QueueDeletedRecently",
            "AWS.SimpleQueueService.QueueDeletedRecently",
            "RequestChangedException",
        ],
        &[],
        Class::Conflict,
    ),
    row(ANY, &["InvalidRequestException", "ClientException"], UNDER_CHANGE, Class::Conflict),
    // The endpoint, not the request.
    row(
        ANY,
        &[
            "InvalidAction",
            "UnknownOperation",
            "UnknownOperationException",
            "InvalidVersion",
            "NotImplemented",
            "MissingAuthenticationToken",
            "MissingAuthenticationTokenException",
        ],
        &[],
        Class::Unsupported,
    ),
    row(
        ANY,
        &[
            "InternalError",
            "InternalErrorException",
            "InternalException",
            "InternalFailure",
            "InternalServerError",
            "InternalServiceError",
            "InternalServiceException",
            "ServerException",
            "ServiceException",
            "ServiceFailure",
            "ServiceUnavailable",
            "ServiceUnavailableException",
            "Unavailable",
            "RequestTimeout",
            "RequestTimeoutException",
        ],
        &[],
        Class::Outage,
    ),
    // Only a dry run is answered so, and whoever makes one reads the code: anywhere else the request is wrong.
    row(ANY, &["DryRunOperation"], &[], Class::Invalid),
    row(
        ANY,
        &[
            "Invalid*",
            "Missing*",
            "Malformed*",
            "Validation*",
            "Illegal*",
            "BadRequest*",
            "Unsupported*",
            "UnknownParameter",
            "DuplicateSubnetsInSameZone",
            "ClientException",
            "PolicyNotAttachable",
            "PermanentRedirect",
            "AuthorizationHeaderMalformed",
            "MethodNotAllowed",
            "TooManyTags*",
        ],
        &[],
        Class::Invalid,
    ),
];

/// Calls that make or join things: what is missing is something else than what they make.
const MAKING: &[&str] = &[
    "*:Create*",
    "*:Run*",
    "*:Allocate*",
    "*:Attach*",
    "*:Associate*",
    "*:Authorize*",
    "*:Add*",
    "*:Register*",
    "*:PutTargets",
    "*:Replace*",
];

/// What `code` means to `call` (`ec2:CreateVpc`).
pub fn class(call: &str, code: &str, message: &str) -> Class {
    let message = message.to_lowercase();
    let fits = |row: &&Row| {
        row.codes.iter().any(|pattern| matches(pattern, code))
            && row.calls.iter().any(|pattern| matches(pattern, call))
            && (row.says.is_empty() || row.says.iter().any(|word| message.contains(word)))
    };
    match TABLE.iter().find(fits).map(|row| row.means) {
        Some(Means::Is(class)) => class,
        Some(Means::Absent) if MAKING.iter().any(|pattern| matches(pattern, call)) => Class::NotYet,
        Some(Means::Absent) => Class::NotFound,
        None => Class::Unknown,
    }
}
